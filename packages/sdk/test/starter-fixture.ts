import type { CodexError } from "../src/errors.ts";
import type { RawMessage } from "../src/events/event.ts";
import { parseNotification } from "../src/events/parse-notification.ts";
import { ThreadChannel } from "../src/routing/thread-channel.ts";
import type { Sleep } from "../src/thread/queued-turns.ts";
import type { WhenBusy } from "../src/thread/run-options.ts";
import { TurnStarter } from "../src/thread/turn-starter.ts";
import type { LiveTurn } from "../src/turn/live-turn.ts";
import { FakeCaller, settled } from "./fake-caller.ts";
import { TurnNotifications } from "./notices.ts";

/** A run, and its current state without awaiting it. */
export interface StarterRun {
  readonly promise: Promise<LiveTurn>;
  turnId: string | undefined;
  error: CodexError | undefined;
}

/** A `TurnStarter` on a fake connection. */
export class StarterFixture {
  readonly caller = new FakeCaller();
  readonly channel = new ThreadChannel("thread");
  readonly starter: TurnStarter;

  constructor({ sleep }: { sleep?: Sleep } = {}) {
    this.starter = new TurnStarter(this.caller, this.channel, sleep);
  }

  receive(...messages: RawMessage[]): void {
    for (const raw of messages) this.channel.receive(parseNotification(raw));
  }

  run(whenBusy: WhenBusy, signal?: AbortSignal, settings: object = {}): StarterRun {
    const promise = this.starter.start({ params: { input: [], ...settings }, whenBusy, signal });
    const run: StarterRun = { promise, turnId: undefined, error: undefined };
    promise.then(
      ({ turnId }) => (run.turnId = turnId),
      (error: CodexError) => (run.error = error),
    );
    return run;
  }

  /** Answers the newest `turn/start` and starts its turn. */
  async begin(turnId: string): Promise<TurnNotifications> {
    await settled();
    const turn = new TurnNotifications("thread", turnId);
    this.caller.last("turn/start").answer({ turn: turn.turn("inProgress") });
    await settled();
    this.receive(turn.started());
    return turn;
  }

  /** Starts a turn, so that the thread is busy. */
  async beginFirst(): Promise<{ first: StarterRun; turn: TurnNotifications }> {
    const first = this.run("reject");
    return { first, turn: await this.begin("t") };
  }

  /** Adds a run to the queue of a busy thread, and confirms it. */
  async queue(signal?: AbortSignal): Promise<{ queued: StarterRun; messageId: string }> {
    const queued = this.run("queue", signal);
    await settled();
    const { params, answer } = this.caller.last("thread/queue/add");
    answer({ queuedSubmission: { id: "q" } });
    await settled();
    return { queued, messageId: String(params["clientUserMessageId"]) };
  }
}
