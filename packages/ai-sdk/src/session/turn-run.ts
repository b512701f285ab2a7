import { type CodexEvent, type Turn, TurnFailedError } from "codexkit";
import { setImmediate } from "node:timers/promises";
import { AI_SDK_LIMITS } from "../limits.ts";
import type { TurnParts } from "../stream/turn-parts.ts";
import type { ClientRequest } from "../requests/client-request.ts";
import type { ClientRequestBroker } from "../requests/client-request-broker.ts";
import { ResponseTracker } from "./response-tracker.ts";
import { isLost } from "./thread-errors.ts";
import type { TurnSettings } from "./thread-options.ts";

/** The next output of a turn: an event, requests to the client, or its end. */
export type Next =
  | { readonly type: "event"; readonly event: CodexEvent }
  | { readonly type: "requests"; readonly requests: readonly ClientRequest[] }
  | { readonly type: "over" };

export interface TurnRunOptions {
  readonly turn: Turn<unknown>;
  readonly turnId: string;
  readonly broker: ClientRequestBroker;
  readonly parts: TurnParts;
  readonly modelId: string;
  readonly begunWith: TurnSettings;
  /** Called if the model failed. */
  readonly onFailed?: () => void;
}

/** A turn that is running, or waiting for its client between two streams. It has one reader at a time. */
export class TurnRun {
  readonly parts: TurnParts;
  readonly turnId: string;
  /** The model that answers. Differs from the requested one if Codex rerouted the turn. */
  modelId: string;
  /** The settings of the whole turn. */
  readonly begunWith: TurnSettings;
  /** Resolves when the turn has ended, even without a reader. Never rejects. */
  readonly ended: Promise<void>;
  #cleanedUp: Promise<void>;
  readonly #turn: Turn<unknown>;
  readonly #events: AsyncIterator<CodexEvent, unknown>;
  readonly #broker: ClientRequestBroker;
  readonly #listening: Disposable;
  readonly #responses: ResponseTracker;
  /** Ends the wait for further calls of a response. */
  #responseLimit: NodeJS.Timeout | undefined;
  #isResponseOverdue = false;
  #fetched: Next | undefined;
  #isFetching = false;
  #isLost = false;
  #isOver = false;
  #wake: () => void = () => {};
  #limit: NodeJS.Timeout | undefined;

  constructor({ turn, turnId, broker, parts, modelId, begunWith, onFailed }: TurnRunOptions) {
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
    this.#broker = broker;
    this.parts = parts;
    this.#responses = new ResponseTracker((name) => broker.isOffered(name));
    this.#listening = broker.onChange(() => this.#wake());
  }

  /** Resolves when the turn has ended and been cleaned up. Never rejects. */
  get cleanedUp(): Promise<void> {
    return this.#cleanedUp;
  }

  /** Runs a cleanup after the turn. Failures are ignored. */
  cleanUp(remove: () => Promise<void>): void {
    this.#cleanedUp = this.#cleanedUp.then(remove).catch(() => {});
  }

  /** Whether codex exited during the turn. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether the turn was interrupted. */
  get isInterrupted(): boolean {
    return this.#limit !== undefined;
  }

  /** Waits for the next output. Events come before requests, so that a tool call is streamed after the text that led to it. */
  async next(): Promise<Next> {
    for (;;) {
      if (this.#isOver) return { type: "over" };
      this.#fetch();
      const fetched = this.#fetched;
      if (fetched !== undefined) {
        this.#fetched = undefined;
        return fetched;
      }
      if (this.#broker.hasUnreported) {
        // Events that have already arrived, and concurrent requests, are delivered within this pause.
        await setImmediate();
        if (this.#fetched !== undefined || !this.#broker.hasUnreported) continue;
        for (const { id } of this.#broker.unreported) this.#responses.onRequested(id);
        if (this.#responses.isSettled || this.#isResponseOverdue) return this.#takeRequests();
        this.#limitResponse();
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #takeRequests(): Next {
    clearTimeout(this.#responseLimit);
    this.#responseLimit = undefined;
    this.#isResponseOverdue = false;
    return { type: "requests", requests: this.#broker.takeUnreported() };
  }

  /** Limits the wait, because a response may break off, and Codex repeats it only after the requested calls are answered. */
  #limitResponse(): void {
    this.#responseLimit ??= setTimeout(() => {
      this.#isResponseOverdue = true;
      this.#wake();
    }, AI_SDK_LIMITS.responseEndMs);
  }

  /** Interrupts the turn. The end arrives as the last event; the wait for it is limited. */
  interrupt(): void {
    if (this.#isOver || this.#limit !== undefined) return;
    this.#limit = setTimeout(() => this.end(), AI_SDK_LIMITS.interruptMs).unref();
    // The turn may have ended or the server may have exited. Both end the events, so the failure can be ignored.
    this.#turn.interrupt().catch(() => {});
  }

  /** Stops reading. Called when the turn has ended or has no reader. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#limit);
    clearTimeout(this.#responseLimit);
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
    if (next.type === "event") this.#responses.observe(next.event);
    this.#fetched = next;
    this.#wake();
  }
}
