import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { settled } from "../../test/fake-caller.ts";
import { message, TurnNotifications } from "../../test/notices.ts";
import { CodexError } from "../errors.ts";
import type { RawMessage } from "../events/event.ts";
import { parseNotification } from "../events/parse-notification.ts";
import { LiveTurn } from "./live-turn.ts";
import { TurnFailedError } from "../events/turn-result.ts";
import { Turn, type TurnControls, type TurnOptions } from "./turn.ts";

const say = new TurnNotifications("thread", "turn");
const refused = new CodexError("request_failed", "The server said no.");
const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): void => void unhandled.push(error);

function started(
  options: Partial<Omit<TurnOptions<unknown>, "controls">> & { controls?: Partial<TurnControls> } = {},
): {
  turn: Turn<unknown>;
  live: LiveTurn;
  receive: (...messages: RawMessage[]) => void;
  controls: { steer: ReturnType<typeof vi.fn>; interrupt: ReturnType<typeof vi.fn> };
} {
  const live = new LiveTurn("thread", "turn", undefined);
  const controls = {
    steer: vi.fn<TurnControls["steer"]>(() => Promise.resolve()),
    interrupt: vi.fn<TurnControls["interrupt"]>(() => Promise.resolve()),
    ...options.controls,
  };
  const turn = new Turn<unknown>({ begin: () => Promise.resolve(live), ...options, controls });
  const receive = (...messages: RawMessage[]): void => {
    for (const raw of messages) live.apply(parseNotification(raw));
  };
  return { turn, live, receive, controls: controls as never };
}

const HELLO = [
  say.started(),
  say.itemStarted(message("m", "")),
  say.delta("m", "hel"),
  say.delta("m", "lo"),
  say.itemCompleted(message("m", "hello")),
];

beforeEach(() => {
  vi.useFakeTimers();
  unhandled.length = 0;
  process.on("unhandledRejection", onUnhandled);
});

afterEach(async () => {
  vi.useRealTimers();
  // Node reports these after the microtasks of the current task.
  await new Promise(setImmediate);
  process.off("unhandledRejection", onUnhandled);
  assert.deepEqual(unhandled, []);
});

describe("Turn", () => {
  it("can be awaited and iterated, both twice, before and after its end", async () => {
    const { turn, receive } = started();
    const early = Array.fromAsync(turn);
    const waiting = [turn.result(), (async () => turn)()];
    await settled();
    receive(...HELLO, say.completed());
    const types = (await early).map(({ type }) => type);
    expect(types).toEqual(["turn.started", "item.started", "item.delta", "item.completed", "turn.completed"]);
    expect((await Array.fromAsync(turn)).map(({ type }) => type)).toEqual(types);
    const expected = { status: "completed", finalResponse: "hello", structured: undefined, turnId: "turn" };
    for (const result of [...(await Promise.all(waiting)), await turn, await turn])
      expect(result).toMatchObject(expected);
    expect(await turn.id).toBe("turn");
  });

  it("yields only the agent's text", async () => {
    const { turn, receive } = started();
    const text = Array.fromAsync(turn.text());
    await settled();
    receive(...HELLO, say.output("c", "noise"), say.completed());
    expect((await text).join("")).toBe("hello");
  });

  it("resolves with the status interrupted if the turn is interrupted", async () => {
    const { turn, receive } = started({ parse: () => expect.unreachable("there is no answer to read") });
    await settled();
    receive(...HELLO, say.completed({ status: "interrupted" }));
    expect(await turn).toMatchObject({
      status: "interrupted",
      finalResponse: "hello",
      structured: undefined,
    });
  });

  it("rejects if the turn fails, and its iteration ends without throwing", async () => {
    const { turn, receive } = started();
    const events = Array.fromAsync(turn);
    await settled();
    receive(
      ...HELLO,
      say.completed({
        status: "failed",
        error: { message: "no", codexErrorInfo: "unauthorized", additionalDetails: null, misalignment: null },
      }),
    );
    await expect(turn).rejects.toMatchObject({
      code: "turn_failed",
      reason: "unauthorized",
      result: { finalResponse: "hello" },
    });
    expect((await events).at(-1)).toMatchObject({ type: "turn.failed" });
    const written: string[] = [];
    const reading = (async () => {
      for await (const text of turn.text()) written.push(text);
    })();
    await expect(reading).rejects.toMatchObject({ code: "turn_failed" });
    expect(written.join("")).toBe("hello");
  });

  it("rejects when awaited and when iterated if it can't start", async () => {
    const { turn } = started({ begin: () => Promise.reject(refused) });
    await expect(turn).rejects.toBe(refused);
    await expect(Array.fromAsync(turn)).rejects.toBe(refused);
    await expect(Array.fromAsync(turn.text())).rejects.toBe(refused);
    await expect(turn.id).rejects.toBe(refused);
    await expect(turn.steer("more")).rejects.toBe(refused);
    await expect(turn.interrupt()).rejects.toBe(refused);
  });

  it("rejects if starting it throws synchronously", async () => {
    const begin = (): never => {
      throw refused;
    };
    await expect(started({ begin }).turn).rejects.toBe(refused);
  });

  it("does not end the program if its failure is not handled", async () => {
    const failing = started({ begin: () => Promise.reject(refused) });
    void failing.turn.id;
    const { receive, live } = started();
    await settled();
    receive(say.started());
    live.fail(refused);
    await settled();
    // Unhandled rejections are checked after each test.
  });

  it("releases a reader that stops early, before and after the turn has started", async () => {
    const { turn, receive } = started();
    await settled();
    receive(...HELLO);
    for await (const event of turn) {
      expect(event.type).toBe("turn.started");
      break;
    }
    const waiting = new Turn({
      begin: () => new Promise<LiveTurn>(() => {}),
      controls: { steer: () => Promise.resolve(), interrupt: () => Promise.resolve() },
    });
    const iterator = waiting[Symbol.asyncIterator]();
    const next = iterator.next();
    const done = { value: undefined, done: true };
    expect(await iterator.return?.()).toEqual(done);
    expect(await next).toEqual(done);
    expect(await iterator.next()).toEqual(done);
    const unread = turn[Symbol.asyncIterator]();
    await unread.return?.();
    expect(await unread.next()).toEqual(done);
  });

  describe("with an output schema", () => {
    it("returns the parsed final message", async () => {
      const { turn, receive } = started({ parse: (text) => ({ text }) });
      await settled();
      receive(...HELLO, say.completed());
      expect((await turn).structured).toEqual({ text: "hello" });
    });

    it.each<[string, Error]>([
      ["the schema's error", new CodexError("invalid_output", "not JSON")],
      ["any other error of the parser", new SyntaxError("not JSON")],
    ])("rejects with invalid_output and the result for %s", async (_, cause) => {
      const { turn, receive } = started({
        parse: () => {
          throw cause;
        },
      });
      await settled();
      receive(...HELLO, say.completed());
      const error: unknown = await turn.then(null, (failure: unknown) => failure);
      expect(error).toBeInstanceOf(TurnFailedError);
      expect(error).toMatchObject({
        code: "invalid_output",
        message: "not JSON",
        cause,
        result: { finalResponse: "hello" },
      });
    });
  });

  describe("steer and interrupt", () => {
    it("stop waiting for the response to an interrupt when the turn ends", async () => {
      const { turn, receive } = started({ controls: { interrupt: () => new Promise<void>(() => {}) } });
      await settled();
      receive(...HELLO);
      const interrupting = turn.interrupt();
      await settled();
      receive(say.completed({ status: "interrupted" }));
      await interrupting;
      expect(await turn).toMatchObject({ status: "interrupted" });
    });

    it("stop waiting for a turn that does not end after its interrupt", async () => {
      const { turn, receive } = started();
      await settled();
      receive(...HELLO);
      const interrupting = turn.interrupt().catch((error: unknown) => error);
      await settled();
      await vi.advanceTimersByTimeAsync(30_000);
      expect(await interrupting).toMatchObject({ code: "timeout" });
    });

    it("send the ID of the turn", async () => {
      const { turn, receive, controls } = started();
      await turn.steer("more");
      expect(controls.steer).toHaveBeenCalledWith("turn", "more", {});
      const interrupting = turn.interrupt();
      await settled();
      expect(controls.interrupt).toHaveBeenCalledWith("turn", {});
      receive(say.completed({ status: "interrupted" }));
      await interrupting;
      expect(await turn).toMatchObject({ status: "interrupted" });
    });

    it("do nothing if the turn has ended", async () => {
      const { turn, receive, controls } = started();
      receive(say.completed());
      await turn.interrupt();
      expect(controls.interrupt).not.toHaveBeenCalled();
    });

    it("do nothing if the turn ends during the call", async () => {
      const gone = new CodexError("turn_not_active", "no active turn");
      const { turn, receive } = started({ controls: { interrupt: () => Promise.reject(gone) } });
      const interrupting = turn.interrupt();
      await settled();
      receive(say.completed());
      await interrupting;
      expect(await turn).toMatchObject({ status: "completed" });
    });

    it("are sent again if the turn was not active yet", async () => {
      const early = new CodexError("turn_not_active", "no active turn");
      const interrupt = vi
        .fn<TurnControls["interrupt"]>(() => Promise.resolve())
        .mockRejectedValueOnce(early);
      const { turn, receive } = started({ controls: { interrupt } });
      const interrupting = turn.interrupt();
      await settled();
      expect(interrupt).toHaveBeenCalledTimes(1);
      receive(say.started());
      await settled();
      expect(interrupt).toHaveBeenCalledTimes(2);
      receive(say.completed({ status: "interrupted" }));
      await interrupting;
    });

    it("explain why the server refused", async () => {
      const { turn } = started({ controls: { interrupt: () => Promise.reject(refused) } });
      await expect(turn.interrupt()).rejects.toBe(refused);
    });

    it("stop waiting when their signal aborts", async () => {
      const { turn } = started();
      const waiting = turn.interrupt({ signal: AbortSignal.abort("enough") });
      await expect(waiting).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    });
  });

  describe("with a signal", () => {
    it("interrupts the turn immediately if it was aborted before the turn started", async () => {
      const { turn, receive, controls } = started({ signal: AbortSignal.abort("why") });
      await settled();
      expect(controls.interrupt).toHaveBeenCalledTimes(1);
      receive(say.completed({ status: "interrupted" }));
      await expect(turn).rejects.toMatchObject({
        code: "aborted",
        cause: "why",
        result: { status: "interrupted" },
      });
    });

    it("interrupts the turn and rejects with the partial result", async () => {
      const abort = new AbortController();
      const { turn, receive, controls } = started({ signal: abort.signal });
      await settled();
      receive(...HELLO);
      abort.abort("why");
      abort.abort("again");
      await settled();
      expect(controls.interrupt).toHaveBeenCalledTimes(1);
      receive(say.completed({ status: "interrupted" }));
      await expect(turn).rejects.toBeInstanceOf(TurnFailedError);
      await expect(turn).rejects.toMatchObject({ code: "aborted", result: { finalResponse: "hello" } });
      expect(vi.getTimerCount()).toBe(0);
    });

    it("has no effect after the end", async () => {
      const abort = new AbortController();
      const { turn, receive, controls } = started({ signal: abort.signal });
      await settled();
      receive(...HELLO, say.completed());
      expect(await turn).toMatchObject({ status: "completed" });
      abort.abort();
      await settled();
      expect(controls.interrupt).not.toHaveBeenCalled();
      expect(vi.getTimerCount()).toBe(0);
    });

    it("returns the result of a turn that completes despite the interrupt", async () => {
      const abort = new AbortController();
      const { turn, receive } = started({ signal: abort.signal });
      await settled();
      abort.abort();
      receive(...HELLO, say.completed());
      expect(await turn).toMatchObject({ status: "completed" });
    });

    it.each<[string, TurnControls["interrupt"]]>([
      ["is refused", () => Promise.reject(refused)],
      [
        "throws",
        () => {
          throw refused;
        },
      ],
      ["is never answered", () => new Promise(() => {})],
      ["changes nothing", () => Promise.resolve()],
    ])("rejects after the limit if the interrupt %s", async (_, interrupt) => {
      const abort = new AbortController();
      const { turn, receive } = started({ signal: abort.signal, controls: { interrupt } });
      await settled();
      receive(...HELLO);
      abort.abort();
      const settledYet = vi.fn<() => void>();
      turn.result().then(settledYet, settledYet);
      await vi.advanceTimersByTimeAsync(9_999);
      expect(settledYet).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      await expect(turn).rejects.toMatchObject({ code: "aborted", result: { finalResponse: "hello" } });
      expect(vi.getTimerCount()).toBe(0);
    });
  });
});
