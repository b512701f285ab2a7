import type { v2 } from "@codexkit/protocol";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

import { EXIT_TIMEOUT_MS } from "./codex-home.ts";
import type { AppServerContender } from "./contender.ts";
import { threadSettings } from "./thread-settings.ts";

/**
 * The least work that counts as running turns on an app-server: lines written by hand, split at line feeds
 * and parsed, and a check of the method. No validation, no turn state, no events, no limits, and no errors
 * except error responses to calls.
 */
export const floor: AppServerContender = {
  async open({ codex, workspace, env }) {
    const child = spawn(codex, ["app-server", "--listen", "stdio://"], {
      cwd: workspace,
      env,
      detached: true,
    });
    // Its log is not read, and a full pipe would block it.
    child.stderr.resume();
    const wire = new BareWire(child.stdout, child.stdin);
    child.once("error", (error) => wire.fail(error));
    child.once("exit", (code, by) => wire.fail(new Error(`codex ended early (${by ?? `code ${code}`})`)));
    await wire.call("initialize", {
      clientInfo: { name: "bare-wire", title: null, version: "0.1.0" },
      capabilities: { experimentalApi: true, requestAttestation: false },
    });
    wire.write('{"method":"initialized"}');
    const runTurn = async (threadId: string, text: string): Promise<LiveTurn> => {
      const [turn] = await Promise.all([
        wire.expectTurn(threadId),
        wire.call("turn/start", { threadId, input: [{ type: "text", text, text_elements: [] }] }),
      ]);
      return turn;
    };
    return {
      async startThread(options) {
        const { thread } = (await wire.call(
          "thread/start",
          threadSettings(workspace, options),
        )) as v2.ThreadStartResponse;
        return {
          run: async (prompt) => (await runTurn(thread.id, prompt)).message,
          stream: async (prompt) => (await runTurn(thread.id, prompt)).deltas,
        };
      },
      [Symbol.asyncDispose]: () => stop(child),
    };
  },
};

async function stop(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin.end();
  const limit = setTimeout(() => child.kill("SIGKILL"), EXIT_TIMEOUT_MS);
  await exited;
  clearTimeout(limit);
}

/** An app-server refuses bursts of about 200 calls. The same limit as in `@codexkit/rpc`. */
const IN_FLIGHT = 64;

const LF = 10;

/** The state of the turn that is running on a thread. */
interface LiveTurn {
  message: string;
  deltas: string;
}

interface Waiting<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

/** All messages that are inspected, in one shape. Which members exist depends on the method. */
interface AnyMessage {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
  readonly params: {
    readonly threadId: string;
    readonly delta: string;
    readonly item: v2.ThreadItem;
    readonly turn: v2.Turn;
  };
}

class BareWire {
  readonly #output: Writable;
  readonly #calls = new Map<number, Waiting<unknown>>();
  readonly #turns = new Map<string, LiveTurn & Waiting<LiveTurn>>();
  readonly #queued: string[] = [];
  #lastId = 0;
  #partial: Buffer[] = [];

  constructor(input: Readable, output: Writable) {
    this.#output = output;
    input.on("data", (chunk: Buffer) => this.#read(chunk));
    // A process that has ended reports it itself.
    output.on("error", () => {});
  }

  write(line: string): void {
    this.#output.write(`${line}\n`);
  }

  call(method: string, params: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const line = JSON.stringify({ id, method, params });
      if (this.#calls.size < IN_FLIGHT) this.write(line);
      else this.#queued.push(line);
      this.#calls.set(id, { resolve, reject });
    });
  }

  expectTurn(threadId: string): Promise<LiveTurn> {
    return new Promise((resolve, reject) => {
      this.#turns.set(threadId, { message: "", deltas: "", resolve, reject });
    });
  }

  fail(error: Error): void {
    for (const { reject } of [...this.#calls.values(), ...this.#turns.values()]) reject(error);
  }

  #read(chunk: Buffer): void {
    const last = chunk.lastIndexOf(LF);
    if (last === -1) {
      this.#partial.push(chunk);
      return;
    }
    const whole = chunk.subarray(0, last + 1);
    const text = (this.#partial.length === 0 ? whole : Buffer.concat([...this.#partial, whole])).toString();
    this.#partial = last + 1 < chunk.length ? [chunk.subarray(last + 1)] : [];
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#take(JSON.parse(text.slice(start, end)));
      start = end + 1;
    }
  }

  #take(message: AnyMessage): void {
    switch (message.method) {
      case undefined:
        this.#answer(message);
        return;
      case "item/agentMessage/delta": {
        const turn = this.#turns.get(message.params.threadId);
        if (turn) turn.deltas += message.params.delta;
        return;
      }
      case "item/completed": {
        const { item, threadId } = message.params;
        const turn = this.#turns.get(threadId);
        if (turn && item.type === "agentMessage") turn.message = item.text;
        return;
      }
      case "turn/completed": {
        const { threadId, turn } = message.params;
        const live = this.#turns.get(threadId);
        this.#turns.delete(threadId);
        if (turn.status === "completed") live?.resolve(live);
        else live?.reject(new Error(turn.error?.message ?? turn.status));
        return;
      }
      default: // Of no interest to a turn's result.
    }
  }

  #answer({ id = 0, error, result }: AnyMessage): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error) call?.reject(new Error(error.message));
    else call?.resolve(result);
    const next = this.#queued.shift();
    if (next !== undefined) this.write(next);
  }
}
