import {
  callTool,
  gate,
  patch,
  run,
  say,
  type ScriptFunction,
  usage,
  waitFor,
} from "@codexkit/scripted-model";
import { type LaunchedCodex, launchCodex } from "@codexkit/testing";
import type { CodexEvent } from "../src/events/event.ts";
import type { Thread } from "../src/thread/thread.ts";

/** One real codex for the tests of a file. Each test has its own thread, and the script depends on the thread's input. */
export class ThreadStage {
  readonly #launched: LaunchedCodex;
  readonly #gates: Map<string, ReturnType<typeof gate>>;

  private constructor(launched: LaunchedCodex, gates: Map<string, ReturnType<typeof gate>>) {
    this.#launched = launched;
    this.#gates = gates;
  }

  static async launch(): Promise<ThreadStage> {
    const gates = new Map<string, ReturnType<typeof gate>>();
    const launched = await launchCodex({
      model: createScript(gates),
      modelName: "gpt-5.5",
      modelRetries: 0,
      config: { tools: { update_plan: { enabled: true } } },
    });
    return new ThreadStage(launched, gates);
  }

  get codex(): LaunchedCodex["codex"] {
    return this.#launched.codex;
  }

  get model(): LaunchedCodex["model"] {
    return this.#launched.model;
  }

  get workspace(): string {
    return this.#launched.workspace;
  }

  get launchOptions(): LaunchedCodex["launchOptions"] {
    return this.#launched.launchOptions;
  }

  startThread(more: object = {}): Promise<Thread> {
    return this.codex.startThread({
      cwd: this.workspace,
      sandbox: "workspace-write",
      approvalPolicy: "never",
      ...more,
    });
  }

  /** Opens the gate at which the prompt `hold NAME` holds its turn. */
  openGate(name: string): void {
    gateOf(this.#gates, name).open();
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#launched[Symbol.asyncDispose]();
  }
}

function createScript(gates: Map<string, ReturnType<typeof gate>>): ScriptFunction {
  return ({ lastUserText, newOutputs }) => {
    const [, word = "", rest = ""] = /^(?<word>\S+) ?(?<rest>.*)$/s.exec(lastUserText) ?? [];
    if (word === "hold") return [say(["half ", waitFor(gateOf(gates, rest)), "whole"])];
    if (newOutputs.length > 0) return [say("done"), usage({ input: 200, cached: 50, output: 20 })];
    if (word === "run") return [run(rest), usage({ input: 100, cached: 10, output: 5 })];
    if (word === "background") return run(rest, { yieldMs: 250 });
    if (word === "write") return [patch(`*** Begin Patch\n*** Add File: ${rest}\n+hello\n*** End Patch\n`)];
    if (word === "plan") {
      return callTool("update_plan", {
        plan: [
          { step: "look", status: "completed" },
          { step: "leap", status: "in_progress" },
        ],
      });
    }
    return [say(`received: ${lastUserText}`, { chunkSize: 4 })];
  };
}

function gateOf(gates: Map<string, ReturnType<typeof gate>>, name: string): ReturnType<typeof gate> {
  const known = gates.get(name) ?? gate();
  gates.set(name, known);
  return known;
}

/** Resolves to the first event of a type, without closing the stream. */
export async function firstEvent<Type extends CodexEvent["type"]>(
  events: AsyncIterable<CodexEvent>,
  type: Type,
): Promise<Extract<CodexEvent, { type: Type }>> {
  for await (const event of events) {
    if (event.type === type) return event as Extract<CodexEvent, { type: Type }>;
  }
  throw new Error(`The stream ended without ${type}`);
}
