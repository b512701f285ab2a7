import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchTiny } from "../../test/tiny-agent.ts";
import type { AgentEvent } from "../contract/agent-event.ts";
import type { AcpHandle } from "./acp-handle.ts";
import type { AcpProvider } from "./acp-provider.ts";

const LAW = /^init( (?:system|assistant_text|tool_use|tool_progress|tool_result))* (?:result|error)$/;

type Step = "read" | "stop" | "abort" | "crash" | "shutdown";

/** Reads the events of a handle, and ends it in every possible way. */
class Racer {
  readonly abort = new AbortController();
  readonly events: AgentEvent[] = [];
  readonly #calls: Promise<unknown>[] = [];
  #handle: AcpHandle | undefined;
  #reading: Promise<void> | undefined;

  async start(provider: AcpProvider, prompt: string): Promise<void> {
    this.#handle = await provider.spawn({ prompt, cwd: process.cwd() }, { signal: this.abort.signal });
  }

  do(step: Step): void {
    if (step === "read") this.#read();
    else if (step === "stop") this.#calls.push(this.#handle?.stop() ?? Promise.resolve());
    else if (step === "abort") this.abort.abort();
    // As the provider reports a crash, without killing the agent in each run.
    else if (step === "crash") this.#handle?.crash("gone");
    else this.#handle?.shutdown();
  }

  async kinds(): Promise<string> {
    this.#read();
    await Promise.all([this.#handle?.stop(), ...this.#calls, this.#reading]);
    return this.events.map(({ kind }) => kind).join(" ");
  }

  #read(): void {
    this.#reading ??= (async () => {
      for await (const event of this.#handle?.events ?? []) this.events.push(event);
    })();
  }
}

let provider: AcpProvider;
beforeAll(async () => {
  provider = await launchTiny();
});
afterAll(() => provider.shutdown());

describe("the ends of an ACP session", () => {
  it("may come in any order: every stream follows the rules, and the agent keeps working", async () => {
    const step = fc.constantFrom<Step>("read", "stop", "abort", "crash", "shutdown");
    // The agent may or may not send something between two steps.
    const script = fc.array(fc.tuple(step, fc.nat({ max: 2 }), fc.boolean()), { maxLength: 8 });
    const prompts = fc.array(fc.constantFrom("work", "say hello", "tool", "ask execute ls"), {
      minLength: 3,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(prompts, script, async (orders, steps) => {
        const racers = orders.map(() => new Racer());
        await Promise.all(racers.map((racer, index) => racer.start(provider, orders[index] ?? "work")));
        for (const [what, index, pauses] of steps) {
          racers[index]?.do(what);
          if (pauses) await new Promise((resolve) => setImmediate(resolve));
        }
        for (const kinds of await Promise.all(racers.map((racer) => racer.kinds())))
          expect(kinds).toMatch(LAW);
      }),
      { numRuns: 60 },
    );
    const handle = await provider.spawn({ prompt: "say still here", cwd: process.cwd() });
    const last = (await Array.fromAsync(handle.events)).at(-1);
    expect(last).toMatchObject({ success: true, message: "still here" });
  });
});
