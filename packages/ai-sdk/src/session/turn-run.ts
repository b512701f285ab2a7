import { type CodexEvent, type Turn, TurnFailedError } from "codexkit";
import { setImmediate } from "node:timers/promises";
import { limits } from "../limits.ts";
import type { TurnParts } from "../stream/turn-parts.ts";
import type { Ask } from "./ask.ts";
import type { AskDesk } from "./ask-desk.ts";
import { isLost } from "./thread-errors.ts";
import type { TurnSettings } from "./thread-options.ts";

/** What comes next: something that happened, something that is asked, or nothing any more. */
export type Next =
  | { readonly type: "event"; readonly event: CodexEvent }
  | { readonly type: "asks"; readonly asks: readonly Ask[] }
  | { readonly type: "over" };

export interface TurnRunOptions {
  readonly turn: Turn<unknown>;
  readonly turnId: string;
  readonly desk: AskDesk;
  readonly parts: TurnParts;
  readonly modelId: string;
  readonly begunWith: TurnSettings;
  /** The model failed. */
  readonly onFailed?: () => void;
}

/** A turn that runs, or waits for its client between two streams. It has one reader at a time. */
export class TurnRun {
  readonly parts: TurnParts;
  readonly turnId: string;
  /** The model that answers; Codex may have rerouted the turn. */
  modelId: string;
  /** The settings that hold for the whole turn. */
  readonly begunWith: TurnSettings;
  /** Settles when the turn is over, read or not. Never rejects. */
  readonly ended: Promise<void>;
  #cleanedUp: Promise<void>;
  readonly #turn: Turn<unknown>;
  readonly #events: AsyncIterator<CodexEvent, unknown>;
  readonly #desk: AskDesk;
  readonly #listening: Disposable;
  #fetched: Next | undefined;
  #isFetching = false;
  #isLost = false;
  #isOver = false;
  #wake: () => void = () => {};
  #limit: NodeJS.Timeout | undefined;

  constructor({ turn, turnId, desk, parts, modelId, begunWith, onFailed }: TurnRunOptions) {
    this.turnId = turnId;
    this.modelId = modelId;
    this.begunWith = begunWith;
    this.ended = turn.result().then(
      () => {},
      (error: unknown) => {
        this.#isLost = isLost(error);
        if (error instanceof TurnFailedError && error.code === "turn_failed") onFailed?.();
      },
    );
    this.#cleanedUp = this.ended;
    this.#turn = turn;
    this.#events = turn[Symbol.asyncIterator]();
    this.#desk = desk;
    this.parts = parts;
    this.#listening = desk.onChange(() => this.#wake());
  }

  /** Settles when the turn is over and what was made for it is gone. Never rejects. */
  get cleanedUp(): Promise<void> {
    return this.#cleanedUp;
  }

  /** Removes something that was made for this turn, once it is over. What can't be removed is no reason to fail. */
  cleanUp(remove: () => Promise<void>): void {
    this.#cleanedUp = this.#cleanedUp.then(remove).catch(() => {});
  }

  /** Whether its codex died. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether it was told to stop. */
  get isInterrupted(): boolean {
    return this.#limit !== undefined;
  }

  /** Everything that happened comes before anything that is asked: a call is shown after the words that led to it. */
  async next(): Promise<Next> {
    for (;;) {
      if (this.#isOver) return { type: "over" };
      this.#fetch();
      const fetched = this.#fetched;
      if (fetched !== undefined) {
        this.#fetched = undefined;
        return fetched;
      }
      if (this.#desk.hasUnseen) {
        // What has arrived is handed over within this pause; so is what else is asked at the same time.
        await setImmediate();
        if (this.#fetched === undefined && this.#desk.hasUnseen) {
          return { type: "asks", asks: this.#desk.takeUnseen() };
        }
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Stops the turn. Its end comes as its last event; a server that never says so is not waited for. */
  interrupt(): void {
    if (this.#isOver || this.#limit !== undefined) return;
    this.#limit = setTimeout(() => this.end(), limits.interruptMs).unref();
    // It may have ended by itself, or its server may be gone: both end the events.
    this.#turn.interrupt().catch(() => {});
  }

  /** Nothing more comes, or nobody reads it. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#limit);
    this.#listening[Symbol.dispose]();
    void this.#events.return?.();
    this.#wake();
  }

  #fetch(): void {
    if (this.#isFetching || this.#fetched !== undefined) return;
    this.#isFetching = true;
    this.#events.next().then(
      ({ done, value }) => this.#arrive(done === true ? { type: "over" } : { type: "event", event: value }),
      () => this.#arrive({ type: "over" }),
    );
  }

  #arrive(next: Next): void {
    this.#isFetching = false;
    this.#fetched = next;
    this.#wake();
  }
}
