import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FakeCall, FakeCaller, settled } from "../../test/fake-caller.ts";
import { TurnNotifications, userMessage } from "../../test/notices.ts";
import { CodexError } from "../errors.ts";
import type { CodexEvent, RawMessage } from "../events/event.ts";
import { parseNotification } from "../events/parse-notification.ts";
import type { LiveTurn } from "../turn/live-turn.ts";
import type { Sleep } from "./queued-turns.ts";
import type { WhenBusy } from "./run-options.ts";
import { ThreadChannel } from "../routing/thread-channel.ts";
import { TurnStarter } from "./turn-starter.ts";

function starterAnd({ sleep }: { sleep?: Sleep } = {}): {
  starter: TurnStarter;
  caller: FakeCaller;
  channel: ThreadChannel;
  receive: (...messages: RawMessage[]) => void;
  run: (whenBusy: WhenBusy, signal?: AbortSignal, settings?: object) => Run;
  /** Answers the newest `turn/start` and lets its turn begin. */
  begin: (turnId: string) => Promise<TurnNotifications>;
} {
  const caller = new FakeCaller();
  const channel = new ThreadChannel("thread");
  const starter = new TurnStarter(caller, channel, sleep);
  const receive = (...messages: RawMessage[]): void => {
    for (const raw of messages) channel.receive(parseNotification(raw));
  };
  return {
    starter,
    caller,
    channel,
    receive,
    run: (whenBusy, signal, settings = {}) =>
      watched(starter.start({ params: { input: [], ...settings }, whenBusy, signal })),
    begin: async (turnId) => {
      await settled();
      const say = new TurnNotifications("thread", turnId);
      caller.last("turn/start").answer({ turn: say.turn("inProgress") });
      await settled();
      receive(say.started());
      return say;
    },
  };
}

/** A run, and its current state without awaiting it. */
interface Run {
  readonly promise: Promise<LiveTurn>;
  turnId: string | undefined;
  error: CodexError | undefined;
}

function watched(promise: Promise<LiveTurn>): Run {
  const run: Run = { promise, turnId: undefined, error: undefined };
  promise.then(
    ({ turnId }) => (run.turnId = turnId),
    (error: CodexError) => (run.error = error),
  );
  return run;
}

describe("TurnStarter", () => {
  it("starts a turn on an idle thread with every value of whenBusy", async () => {
    for (const whenBusy of ["reject", "steer", "queue", "wait"] as const) {
      const { run, begin, caller } = starterAnd();
      const mine = run(whenBusy, undefined, { model: "some" });
      await begin("t");
      expect(mine.turnId).toBe("t");
      expect(caller.last("turn/start").params).toMatchObject({
        threadId: "thread",
        model: "some",
        clientUserMessageId: expect.any(String),
      });
    }
  });

  it("starts one of two concurrent calls, and rejects the other with thread_busy", async () => {
    const { run, begin, caller } = starterAnd();
    const [first, second] = [run("reject"), run("reject")];
    await begin("t");
    await settled();
    expect(caller.made("turn/start")).toHaveLength(1);
    expect(first.turnId).toBe("t");
    expect(second.error?.code).toBe("thread_busy");
    expect(second.error?.message).toContain("Turn t ");
  });

  it("starts the second of two calls if the first turn has already ended", async () => {
    const { run, receive, caller } = starterAnd();
    const [first, second] = [run("reject"), run("reject")];
    await settled();
    const say = new TurnNotifications("thread", "quick");
    receive(say.started(), say.completed());
    caller.last("turn/start").answer({ turn: say.turn("inProgress") });
    await settled();
    expect((await first.promise).end?.type).toBe("turn.completed");
    expect(caller.made("turn/start")).toHaveLength(2);
    caller.last("turn/start").answer({ turn: { id: "t2" } });
    expect((await second.promise).turnId).toBe("t2");
  });

  it("starts waiting calls in order", async () => {
    const { run, begin, receive, caller } = starterAnd();
    const runs = [run("wait"), run("wait"), run("wait")];
    for (const [number, mine] of runs.entries()) {
      const say = await begin(`t${number}`);
      expect(mine.turnId).toBe(`t${number}`);
      expect(caller.made("turn/start")).toHaveLength(number + 1);
      receive(say.completed());
    }
  });

  it("makes waiting calls wait for turns of other clients too", async () => {
    const { run, begin, receive, caller } = starterAnd();
    const theirs = new TurnNotifications("thread", "theirs");
    receive(theirs.started());
    const mine = run("wait");
    await settled();
    expect(caller.calls).toEqual([]);
    receive(theirs.completed());
    await begin("mine");
    expect(mine.turnId).toBe("mine");
  });

  it("adds input to the running turn with whenBusy: steer", async () => {
    const { run, begin, caller } = starterAnd();
    const first = run("reject");
    await begin("t");
    const context = { additionalContext: { note: { text: "x" } } };
    const second = run("steer", undefined, context);
    await settled();
    expect(caller.last("turn/steer").params).toEqual({
      threadId: "thread",
      expectedTurnId: "t",
      input: [],
      ...context,
    });
    caller.last("turn/steer").answer({ turnId: "t" });
    expect(await second.promise).toBe(await first.promise);
  });

  it("starts a new turn if the turn to steer ends meanwhile", async () => {
    const { run, begin, receive, caller } = starterAnd();
    run("reject");
    const say = await begin("t");
    const second = run("steer");
    await settled();
    caller.last("turn/steer").refuse("turn_not_active");
    await settled();
    expect(caller.made("turn/start")).toHaveLength(1);
    receive(say.completed());
    await begin("t2");
    expect(second.turnId).toBe("t2");
  });

  it("does not delay other calls while it waits for the end of that turn", async () => {
    const { run, begin, caller } = starterAnd();
    run("reject");
    await begin("t");
    run("steer");
    await settled();
    caller.last("turn/steer").refuse("turn_not_active");
    const third = run("reject");
    await settled();
    expect(third.error?.code).toBe("thread_busy");
  });

  it("explains why a turn accepts no input", async () => {
    const { run, begin, caller } = starterAnd();
    run("reject");
    await begin("review");
    const second = run("steer");
    await settled();
    caller.last("turn/steer").refuse("turn_not_steerable");
    await settled();
    expect(second.error?.code).toBe("turn_not_steerable");
  });

  it.each(["steer", "queue"] as const)("rejects settings that %s would ignore", async (whenBusy) => {
    const { run, begin, caller } = starterAnd();
    run("reject");
    await begin("t");
    const second = run(whenBusy, undefined, { model: "other", effort: undefined });
    await settled();
    expect(second.error).toMatchObject({
      code: "invalid_argument",
      message: expect.stringMatching(/; model can't be combined/),
    });
    expect(caller.calls).toHaveLength(1);
  });

  it("resolves a queued run with the turn that starts with its message", async () => {
    const { run, begin, receive, caller } = starterAnd();
    run("reject");
    const say = await begin("t");
    const [one, two] = [run("queue"), run("queue")];
    await settled();
    const [first] = caller.made("thread/queue/add");
    first?.answer({ queuedSubmission: { id: "q1" } });
    await settled();
    const second = caller.last("thread/queue/add");
    second.answer({ queuedSubmission: { id: "q2" } });
    receive(say.completed());
    const turns = [
      new TurnNotifications("thread", "goal"),
      new TurnNotifications("thread", "q2"),
      new TurnNotifications("thread", "q1"),
    ] as const;
    const messages = [null, second.params["clientUserMessageId"], first?.params["clientUserMessageId"]] as (
      | string
      | null
    )[];
    for (const [number, turn] of turns.entries()) {
      receive(
        turn.started(),
        turn.itemStarted(userMessage(`u${number}`, messages[number] ?? null)),
        turn.completed(),
      );
    }
    await settled();
    expect([one.turnId, two.turnId]).toEqual(["q1", "q2"]);
    expect(caller.made("turn/start")).toHaveLength(1);
  });

  it("resolves a queued run whose turn starts before the response of the queue", async () => {
    const { run, begin, receive, caller } = starterAnd();
    run("reject");
    const say = await begin("t");
    const mine = run("queue");
    await settled();
    const { params, answer } = caller.last("thread/queue/add");
    const next = new TurnNotifications("thread", "next");
    receive(
      say.completed(),
      next.started(),
      next.itemStarted(userMessage("u", String(params["clientUserMessageId"]))),
    );
    answer({ queuedSubmission: { id: "q" } });
    await settled();
    expect(mine.turnId).toBe("next");
  });

  it("restarts the queue after an interrupt, before any other turn", async () => {
    const { run, begin, receive, caller } = starterAnd();
    run("reject");
    const say = await begin("t");
    const queued = run("queue");
    await settled();
    caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
    receive(say.completed({ status: "interrupted" }));
    const [other, waiting] = [run("reject"), run("wait")];
    await settled();
    expect(other.error?.code).toBe("thread_busy");
    const next = new TurnNotifications("thread", "next");
    caller.last("thread/queue/start").answer({ turn: next.turn("inProgress") });
    const messageId = String(caller.last("thread/queue/add").params["clientUserMessageId"]);
    receive(next.started(), next.itemStarted(userMessage("u", messageId)));
    await settled();
    expect(queued.turnId).toBe("next");
    receive(next.completed());
    await begin("last");
    expect(waiting.turnId).toBe("last");
    expect(caller.made("turn/start")).toHaveLength(2);
  });

  it("ends a queued run as interrupted when it is cancelled", async () => {
    const { starter, run, begin, caller } = starterAnd();
    run("reject");
    await begin("t");
    const cancel = new AbortController();
    const request = { params: { input: [] }, signal: undefined, cancelled: cancel.signal };
    const [queued, waiting] = [
      starter.start({ ...request, whenBusy: "queue" }),
      starter.start({ ...request, whenBusy: "wait" }),
    ];
    await settled();
    caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
    await settled();
    cancel.abort();
    await settled();
    caller.last("thread/queue/delete").answer({ deleted: true });
    for (const mine of [queued, waiting]) {
      expect((await mine).end).toMatchObject({ type: "turn.interrupted", turnId: "" });
    }
    expect(caller.made("turn/start")).toHaveLength(1);
  });

  it("ends a queued run as interrupted when another client removed it", async () => {
    const { run, begin, receive, caller } = starterAnd({ sleep: async () => {} });
    run("reject");
    const say = await begin("t");
    const mine = run("queue");
    await settled();
    caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
    await settled();
    caller.respond = ({ method, answer, refuse }) => {
      if (method === "thread/queue/list") answer({ data: [], nextCursor: null });
      else if (method === "thread/queue/start") refuse("turn_not_found");
    };
    receive(say.completed());
    await settled();
    expect((await mine.promise).end).toMatchObject({ type: "turn.interrupted", turnId: "" });
  });

  it("fails a queued run if its queue can't be restarted", async () => {
    const { run, begin, receive, caller } = starterAnd();
    run("reject");
    const say = await begin("t");
    const mine = run("queue");
    await settled();
    caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
    receive(say.completed({ status: "interrupted" }));
    await settled();
    caller.last("thread/queue/start").refuse("thread_not_found");
    await settled();
    expect(mine.error?.code).toBe("thread_not_found");
  });

  it("rejects a message ID that is already queued", async () => {
    const { run, begin, caller } = starterAnd();
    run("reject");
    await begin("t");
    run("queue", undefined, { clientUserMessageId: "mine" });
    const second = run("queue", undefined, { clientUserMessageId: "mine" });
    await settled();
    caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
    await settled();
    expect(second.error?.code).toBe("invalid_argument");
    expect(caller.made("thread/queue/add")).toHaveLength(1);
  });

  it("starts the next call after a failed one", async () => {
    const { run, begin, caller, channel } = starterAnd();
    const orders = [
      [run("reject"), run("reject")],
      [run("wait"), run("wait")],
    ];
    for (const [number, mine] of orders.flat().entries()) {
      await settled();
      expect(caller.made("turn/start")).toHaveLength(number + 1);
      caller.last("turn/start").refuse("request_failed");
      await settled();
      expect(mine.error?.code).toBe("request_failed");
    }
    expect(channel.activeTurn).toBeUndefined();
    const last = run("reject");
    await begin("t");
    expect(last.turnId).toBe("t");
  });

  it("rejects queued runs if the server is lost, and starts waiting ones", async () => {
    const { run, begin, caller, channel } = starterAnd();
    run("reject");
    await begin("t");
    const [queued, waiting] = [run("queue"), run("wait")];
    await settled();
    caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
    await settled();
    channel.failAll(new CodexError("app_server_crashed", "gone"));
    await settled();
    expect(queued.error?.code).toBe("app_server_crashed");
    await begin("t2");
    expect(waiting.turnId).toBe("t2");
  });

  describe("with a signal", () => {
    it("sends nothing if it was aborted before", async () => {
      for (const whenBusy of ["reject", "steer", "queue", "wait"] as const) {
        const { run, caller } = starterAnd();
        const mine = run(whenBusy, AbortSignal.abort("why"));
        await settled();
        expect(mine.error).toMatchObject({ code: "aborted", cause: "why" });
        expect(caller.calls).toEqual([]);
      }
    });

    it("removes a waiting call from any position, and starts those behind it", async () => {
      const { run, begin, receive } = starterAnd();
      run("reject");
      const say = await begin("t");
      const aborts = [new AbortController(), new AbortController()];
      const [first, second] = aborts.map(({ signal }) => run("wait", signal));
      const third = run("wait");
      aborts[1]?.abort();
      await settled();
      expect(second?.error?.code).toBe("aborted");
      expect(first?.error).toBeUndefined();
      aborts[0]?.abort();
      await settled();
      expect(first?.error?.code).toBe("aborted");
      receive(say.completed());
      await begin("t2");
      expect(third.turnId).toBe("t2");
    });

    it("stops the turn that an aborted call has started", async () => {
      const { run, begin, receive, caller } = starterAnd();
      const abort = new AbortController();
      const mine = run("reject", abort.signal);
      await settled();
      abort.abort();
      await settled();
      expect(mine.error?.code).toBe("aborted");
      const next = run("wait");
      const say = await begin("t");
      expect(caller.last("turn/interrupt").params).toEqual({ threadId: "thread", turnId: "t" });
      caller.last("turn/interrupt").answer({});
      expect(caller.made("turn/start")).toHaveLength(1);
      receive(say.completed({ status: "interrupted" }));
      await begin("t2");
      expect(next.turnId).toBe("t2");
    });

    it("removes the input of an aborted call from the queue", async () => {
      const { run, begin, caller } = starterAnd();
      run("reject");
      await begin("t");
      const abort = new AbortController();
      const mine = run("queue", abort.signal);
      await settled();
      caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
      await settled();
      abort.abort();
      await settled();
      expect(mine.error?.code).toBe("aborted");
      expect(caller.last("thread/queue/delete").params).toEqual({
        threadId: "thread",
        queuedSubmissionId: "q",
      });
      caller.last("thread/queue/delete").answer({ deleted: true });
    });

    it("removes the input of a call that was aborted before the response of the queue", async () => {
      const { run, begin, caller } = starterAnd();
      run("reject");
      await begin("t");
      const abort = new AbortController();
      const mine = run("queue", abort.signal);
      await settled();
      abort.abort();
      await settled();
      expect(mine.error?.code).toBe("aborted");
      caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
      await settled();
      expect(caller.made("thread/queue/delete")).toHaveLength(1);
    });

    it("stops a queued turn that starts just as its call is aborted", async () => {
      const { run, begin, receive, caller } = starterAnd();
      run("reject");
      const say = await begin("t");
      const abort = new AbortController();
      const mine = run("queue", abort.signal);
      await settled();
      const { params, answer } = caller.last("thread/queue/add");
      answer({ queuedSubmission: { id: "q" } });
      await settled();
      abort.abort();
      await settled();
      expect(mine.error?.code).toBe("aborted");
      caller.last("thread/queue/delete").answer({ deleted: false });
      const next = new TurnNotifications("thread", "next");
      receive(
        say.completed(),
        next.started(),
        next.itemStarted(userMessage("u", String(params["clientUserMessageId"]))),
      );
      await settled();
      expect(caller.last("turn/interrupt").params).toEqual({ threadId: "thread", turnId: "next" });
    });
  });

  it("settles every run, never starts during a known turn, and leaves no turn running, for any order of events", async () => {
    const runs = fc.array(
      fc.record({
        whenBusy: fc.constantFrom<WhenBusy>("reject", "steer", "queue", "wait"),
        isRefused: fc.boolean(),
        isAborted: fc.boolean(),
      }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), runs, async (scheduler, wanted) => {
        const server = new ScheduledServer(scheduler);
        const all = wanted.map(({ whenBusy, isRefused, isAborted }, number) => {
          const abort = new AbortController();
          const run: { state: string } = { state: "not begun" };
          void scheduler.schedule(Promise.resolve(), `run ${number}: ${whenBusy}`).then(() => {
            server.refuseNext = isRefused;
            run.state = "pending";
            return server.starter.start({ params: { input: [] }, whenBusy, signal: abort.signal }).then(
              async (turn) => {
                run.state = "running";
                await turn.ended;
                run.state = "ended";
              },
              (error: CodexError) => (run.state = error.code),
            );
          });
          if (isAborted)
            void scheduler.schedule(Promise.resolve(), `abort ${number}`).then(() => abort.abort());
          return run;
        });
        await scheduler.waitIdle();
        for (const { state } of all)
          expect(["ended", "thread_busy", "aborted", "request_failed"]).toContain(state);
        expect(server.startsWhileKnownBusy).toBe(0);
        expect(server.mostStartsAtOnce).toBeLessThanOrEqual(1);
        expect(server.joined).toBe(server.warned);
        expect(server.active).toBeUndefined();
        expect(server.channel.liveTurns).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

/** An app-server whose actions the scheduler orders arbitrarily. Its messages arrive in order. */
class ScheduledServer {
  readonly caller = new FakeCaller();
  readonly channel: ThreadChannel;
  readonly starter: TurnStarter;
  readonly #scheduler: fc.Scheduler;
  readonly #queue: { id: string; messageId: string }[] = [];
  #wire: Promise<unknown> = Promise.resolve();
  #turns = 0;
  #starts = 0;
  active: TurnNotifications | undefined;
  refuseNext = false;
  startsWhileKnownBusy = 0;
  mostStartsAtOnce = 0;
  /** Starts whose input was added to a turn that the server started by itself, and the warnings about it. */
  joined = 0;
  warned = 0;

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
    const onEvent = (event: CodexEvent): void => {
      if (event.type === "warning" && event.kind === "steered") this.warned += 1;
    };
    this.channel = new ThreadChannel("thread", { onEvent });
    const sleep = (): Promise<void> => scheduler.schedule(Promise.resolve(), "queue timer");
    this.starter = new TurnStarter(this.caller, this.channel, sleep);
    this.caller.respond = (call) => void this.#handle(call);
  }

  async #handle(call: FakeCall): Promise<void> {
    if (call.method === "turn/start") {
      if (this.channel.activeTurn) this.startsWhileKnownBusy += 1;
      this.#starts += 1;
      this.mostStartsAtOnce = Math.max(this.mostStartsAtOnce, this.#starts);
    }
    const isRefused = this.refuseNext;
    this.refuseNext = false;
    await this.#scheduler.schedule(Promise.resolve(), `${call.method} arrives`);
    const respond = isRefused ? undefined : this.#work(call);
    await this.#scheduler.schedule(Promise.resolve(), `${call.method} answers`);
    if (call.method === "turn/start") this.#starts -= 1;
    if (respond) respond();
    else call.refuse("request_failed");
  }

  /** The immediate effect of a call on the server, and its later response. */
  #work({ method, params, answer, refuse }: FakeCall): () => void {
    const messageId = String(params["clientUserMessageId"]);
    switch (method) {
      case "turn/start": {
        if (this.active) this.joined += 1;
        const turn = this.active ?? this.#begin();
        this.#say(turn.itemStarted(userMessage(messageId, messageId)));
        return () => answer({ turn: turn.turn("inProgress") });
      }
      case "turn/steer": {
        const isActive = this.active?.turnId === params["expectedTurnId"];
        return () => (isActive ? answer({}) : refuse("turn_not_active"));
      }
      case "turn/interrupt": {
        const isActive = this.active?.turnId === params["turnId"];
        if (isActive) this.#end("interrupted");
        return () => (isActive ? answer({}) : refuse("turn_not_active"));
      }
      case "thread/queue/add": {
        this.#queue.push({ id: messageId, messageId });
        return () => answer({ queuedSubmission: { id: messageId } });
      }
      case "thread/queue/delete": {
        const at = this.#queue.findIndex(({ id }) => id === params["queuedSubmissionId"]);
        if (at >= 0) this.#queue.splice(at, 1);
        return () => answer({ deleted: at >= 0 });
      }
      case "thread/queue/list": {
        const data = this.#queue.map(({ id }) => ({ id }));
        return () => answer({ data, nextCursor: null });
      }
      case "thread/queue/start": {
        if (this.active) return () => refuse("thread_busy");
        this.#drain();
        const turn = this.active as TurnNotifications | undefined;
        return () => (turn ? answer({ turn: turn.turn("inProgress") }) : refuse("turn_not_found"));
      }
      default:
        throw new Error(`unexpected ${method}`);
    }
  }

  #begin(): TurnNotifications {
    this.#turns += 1;
    const turn = new TurnNotifications("thread", `t${this.#turns}`);
    this.active = turn;
    this.#say(turn.started());
    void this.#scheduler.schedule(Promise.resolve(), `${turn.turnId} ends`).then(() => {
      if (this.active === turn) this.#end("completed");
    });
    return turn;
  }

  #end(status: "completed" | "interrupted"): void {
    if (this.active) this.#say(this.active.completed({ status }));
    this.active = undefined;
    // Codex pauses its queue after an interrupt.
    if (status === "completed") this.#drain();
  }

  #drain(): void {
    const next = this.active ? undefined : this.#queue.shift();
    if (next) this.#say(this.#begin().itemStarted(userMessage(next.messageId, next.messageId)));
  }

  #say(raw: RawMessage): void {
    this.#wire = this.#wire
      .then(() => this.#scheduler.schedule(Promise.resolve(), raw.method))
      .then(() => this.channel.receive(parseNotification(raw)));
  }
}
