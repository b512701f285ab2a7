// Tests the close protocol with generated orders of events. The scheduler triggers every step.
import { type Codex, CodexError, type CodexEvent, type Thread, type Turn, type TurnResult } from "codexkit";
import { AsyncQueue } from "@codexkit/rpc/async";
import fc from "fast-check";
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../contract/agent-event.ts";
import { planSpawn } from "../plan/plan-spawn.ts";
import { CodexHandle } from "./codex-handle.ts";

const PLACE = { threadId: "thread", turnId: "turn" };
const RESULT = { ...PLACE, status: "completed", finalResponse: "said" } as TurnResult;
const CRASH = new CodexError("app_server_crashed", "it crashed");

/** A Codex with one turn, whose events and responses the scheduler orders. */
class FakeCodex {
  readonly pid = 1;
  readonly calls: string[] = [];
  readonly events = new AsyncQueue<CodexEvent>();
  readonly #scheduler: fc.Scheduler;
  readonly #begun = Promise.withResolvers<string>();
  readonly #ended = Promise.withResolvers<TurnResult>();
  #over = false;

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
    this.#begun.promise.catch(() => {});
    this.#ended.promise.catch(() => {});
  }

  async request(method: string): Promise<void> {
    this.calls.push(method);
    await this.#scheduler.schedule(Promise.resolve(), method);
  }

  thread(): Thread {
    const turn = {
      id: this.#begun.promise,
      result: () => this.#ended.promise,
      interrupt: async () => {
        await this.#begun.promise;
        await this.#scheduler.schedule(Promise.resolve(), "interrupt");
        this.end({ type: "turn.interrupted", ...PLACE, result: { ...RESULT, status: "interrupted" } });
      },
    } as unknown as Turn;
    const close = (): Promise<void> => {
      this.events.end();
      return this.request("thread/unsubscribe");
    };
    return { id: "thread", agents: [], settings: {}, run: () => turn, close } as unknown as Thread;
  }

  begin(): void {
    if (this.#over) return;
    this.#begun.resolve("turn");
    this.events.push({ type: "turn.started", ...PLACE });
  }

  say(text: string): void {
    this.events.push({ type: "item.delta", ...PLACE, itemId: "m", kind: "message", delta: text });
  }

  end(event: Extract<CodexEvent, { type: "turn.completed" | "turn.interrupted" }>): void {
    if (this.#over) return;
    this.begin();
    this.#over = true;
    this.events.push(event);
    this.#ended.resolve(event.result);
  }

  crash(): void {
    if (this.#over) return;
    this.#over = true;
    this.events.push({ type: "turn.failed", ...PLACE, error: CRASH, result: RESULT });
    this.#begun.reject(CRASH);
    this.#ended.reject(CRASH);
  }
}

function handleOn(codex: FakeCodex, signal: AbortSignal): CodexHandle {
  return new CodexHandle({
    codex: codex as unknown as Codex,
    thread: codex.thread(),
    plan: planSpawn({ prompt: "go", cwd: "/", timeoutMs: 60_000 }, { codexHome: "/" }),
    threadEvents: codex.events,
    interruptTimeoutMs: 60_000,
    signal,
  });
}

const ACTS = ["say", "begin", "complete", "crash", "stop", "abort", "shutdown", "leave"] as const;
const LAST = ["complete", "crash", "stop"] as const;

describe("a handle", () => {
  it("ends exactly once and releases everything, whatever the order of endings", async () => {
    const acts = fc.array(fc.constantFrom(...ACTS), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), acts, fc.constantFrom(...LAST), async (s, some, last) => {
        const codex = new FakeCodex(s);
        const abort = new AbortController();
        const handle = handleOn(codex, abort.signal);
        const beginning = handle.begin().catch(() => {});
        const reader = handle.events[Symbol.asyncIterator]();
        const events: AgentEvent[] = [];
        let left = false;
        const perform = (act: (typeof ACTS)[number]): unknown => {
          if (act === "say") return codex.say("x");
          if (act === "begin") return codex.begin();
          if (act === "complete") return codex.end({ type: "turn.completed", ...PLACE, result: RESULT });
          if (act === "crash") return codex.crash();
          if (act === "stop") return void handle.stop();
          if (act === "abort") return abort.abort();
          if (act === "shutdown") return handle.shutdown();
          left = true;
          return reader.return?.();
        };
        const reading = (async () => {
          for (let next = await reader.next(); !next.done; next = await reader.next()) {
            events.push(next.value);
            await s.schedule(Promise.resolve(), "read");
          }
        })();
        // A turn starts before it can be stopped, and something ends it eventually.
        s.scheduleSequence(([...some, "begin", last] as const).map((act) => async () => void perform(act)));
        await s.waitFor(Promise.all([reading, handle.released, beginning]));
        expect(events.map(({ kind }) => kind).join(" ")).toMatch(
          left
            ? /^(init( assistant_text| system)*( result| error)?)?$/
            : /^init( assistant_text| system)* (result|error)$/,
        );
        expect(handle.finished).toBe(true);
        expect(getEventListeners(abort.signal, "abort")).toEqual([]);
        expect(codex.events.hasEnded).toBe(true);
        expect(new Set(codex.calls).size).toBe(codex.calls.length);
        await expect(handle.inject("late")).rejects.toMatchObject({ code: "session_ended" });
      }),
      { numRuns: 300 },
    );
  });

  it("ends with provider_failed if an event can't be converted, and Codex releases the thread", async () => {
    const codex = new FakeCodex({ schedule: async (task: Promise<unknown>) => task } as fc.Scheduler);
    const handle = handleOn(codex, new AbortController().signal);
    codex.begin();
    await handle.begin();
    codex.events.push({ type: "plan.updated", ...PLACE, plan: null as never, explanation: null });
    const events = await Array.fromAsync(handle.events);
    expect(events.at(-1)).toMatchObject({ kind: "error", code: "provider_failed" });
    await handle.released;
    expect(codex.calls).toEqual(["thread/unsubscribe", "thread/archive", "thread/unarchive"]);
  });
});
