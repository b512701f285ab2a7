import fc from "fast-check";
import { expect, it } from "vitest";
import { type FakeCall, FakeCaller } from "../../test/fake-caller.ts";
import { TurnNotifications, userMessage } from "../../test/notices.ts";
import type { CodexError } from "../errors.ts";
import type { CodexEvent, RawMessage } from "../events/event.ts";
import { parseNotification } from "../events/parse-notification.ts";
import { ThreadChannel } from "../routing/thread-channel.ts";
import type { WhenBusy } from "./run-options.ts";
import { TurnStarter } from "./turn-starter.ts";

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
