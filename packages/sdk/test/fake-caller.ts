import type { Caller } from "../src/connection/caller.ts";
import { CodexError, type CodexErrorCode } from "../src/errors.ts";

/** A call that the test answers. */
export interface FakeCall {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly signal: AbortSignal | undefined;
  readonly answer: (result: unknown) => void;
  readonly refuse: (code: CodexErrorCode) => void;
}

/** A connection that the test controls completely. */
export class FakeCaller implements Caller {
  readonly calls: FakeCall[] = [];
  readonly #listeners = new Map<string, Set<(params: never) => void>>();
  /** Answers a call immediately. Undefined leaves it pending. */
  respond: (call: FakeCall) => void = () => {};

  request: Caller["request"] = (method, ...args) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const [params, options] = args as [Record<string, unknown>?, { signal?: AbortSignal }?];
    const call: FakeCall = {
      method,
      params: params ?? {},
      signal: options?.signal,
      answer: (result) => resolve(result),
      refuse: (code) => reject(new CodexError(code, `${method} was refused`)),
    };
    options?.signal?.addEventListener("abort", () => call.refuse("aborted"));
    this.calls.push(call);
    this.respond(call);
    return promise as Promise<never>;
  };

  on: Caller["on"] = (method, listener) => {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners);
    listeners.add(listener);
    return { [Symbol.dispose]: () => void listeners.delete(listener) };
  };

  /** Sends a notification to the listeners. */
  say(method: string, params: unknown): void {
    for (const listener of this.#listeners.get(method) ?? []) listener(params as never);
  }

  made(method: string): FakeCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** The newest call of a method. */
  last(method: string): FakeCall {
    const call = this.made(method).at(-1);
    if (!call) throw new Error(`${method} was not called`);
    return call;
  }
}

/** Runs pending microtasks. No time passes. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}
