import type { Command, CommandBody, Problem } from "@codexkit/daemon/client";
import type { StoredValue } from "../settings/local-store.ts";
import { type AttachedImage, isAttachedImage } from "./draft.ts";

export type SendMode = CommandBody<"message">["mode"];

/** A message that is being sent to the daemon, or waits in its queue. */
export interface OutgoingMessage {
  /** The idempotency key. The message is executed once, even if it is sent several times. */
  readonly key: string;
  readonly text: string;
  readonly images: readonly AttachedImage[];
  readonly mode: SendMode;
  /** unsent: waits for the connection. accepted: the daemon has stored it. refused: see `problem`. */
  readonly state: "unsent" | "sending" | "accepted" | "refused";
  readonly commandId?: string;
  readonly problem?: string;
}

/** The daemon's response. `unreachable`: it is unknown whether the daemon received the message. */
export type SendOutcome =
  | { readonly type: "accepted"; readonly command: Command }
  | { readonly type: "refused"; readonly problem: Pick<Problem, "type" | "detail"> }
  | { readonly type: "unreachable" };

export interface OutboxOptions {
  readonly stored: StoredValue<readonly OutgoingMessage[]>;
  readonly send: (message: OutgoingMessage) => Promise<SendOutcome>;
  readonly createKey: () => string;
  readonly onChange: (messages: readonly OutgoingMessage[]) => void;
}

/**
 * Messages that the daemon has not stored yet, and those in its queue. They are sent one after another, so that their order is
 * kept, and survive a reload. A message whose outcome is unknown is sent again with the same key.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  #messages: readonly OutgoingMessage[];
  #flushing: Promise<void> | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    // If the page was closed while it was sending a message, the outcome is unknown.
    this.#messages = options.stored
      .read()
      .map((message) => (message.state === "sending" ? { ...message, state: "unsent" } : message));
  }

  get messages(): readonly OutgoingMessage[] {
    return this.#messages;
  }

  /** Adds a message and sends waiting messages. */
  async send(message: Pick<OutgoingMessage, "text" | "images" | "mode">): Promise<void> {
    const { text, images, mode } = message;
    this.#change([
      ...this.#messages,
      { key: this.#options.createKey(), text, images, mode, state: "unsent" },
    ]);
    return this.flush();
  }

  /** Sends waiting messages. Call it when the connection is restored. */
  async flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
    return this.#flushing;
  }

  /** Removes a message that was executed, removed from the queue, or put back into the composer. */
  remove(key: string): OutgoingMessage | undefined {
    const removed = this.#messages.find((message) => message.key === key);
    if (removed) this.#change(this.#messages.filter((message) => message.key !== key));
    return removed;
  }

  /** Sends a refused message again, as a new one. */
  async retry(key: string): Promise<void> {
    const message = this.remove(key);
    if (message) await this.send(message);
  }

  /** Handles the end of a command. If the turn of a steering message had already ended, the message is queued instead. */
  finish(key: string, problem?: Pick<Problem, "type" | "detail">): void {
    const message = this.#messages.find((candidate) => candidate.key === key);
    if (!message) return;
    if (!problem) return void this.remove(key);
    this.#refuse(message, problem);
    void this.flush();
  }

  async #flush(): Promise<void> {
    for (;;) {
      const message = this.#messages.find(({ state }) => state === "unsent");
      if (!message) return;
      this.#update(message.key, { state: "sending" });
      const outcome = await this.#options.send(message);
      if (outcome.type === "unreachable") return this.#update(message.key, { state: "unsent" });
      if (outcome.type === "refused") this.#refuse(message, outcome.problem);
      else this.#accept(message, outcome.command);
    }
  }

  #accept(message: OutgoingMessage, { id, state, problem }: Command): void {
    if (state === "failed" && problem) this.#refuse(message, problem);
    else if (state === "done") this.remove(message.key);
    else this.#update(message.key, { state: "accepted", commandId: id });
  }

  #refuse(message: OutgoingMessage, problem: Pick<Problem, "type" | "detail">): void {
    if (message.mode === "steer" && problem.type === "turn_not_running") {
      const { text, images } = message;
      const key = this.#options.createKey();
      return this.#replace(message.key, { key, text, images, mode: "queue", state: "unsent" });
    }
    this.#update(message.key, { state: "refused", problem: problem.detail });
  }

  #update(key: string, change: Partial<OutgoingMessage>): void {
    const message = this.#messages.find((candidate) => candidate.key === key);
    if (message) this.#replace(key, { ...message, ...change });
  }

  #replace(key: string, message: OutgoingMessage): void {
    this.#change(this.#messages.map((candidate) => (candidate.key === key ? message : candidate)));
  }

  #change(messages: readonly OutgoingMessage[]): void {
    this.#messages = messages;
    this.#options.stored.write(messages.length === 0 ? undefined : messages);
    this.#options.onChange(messages);
  }
}

const STATES = new Set(["unsent", "sending", "accepted", "refused"]);
const MODES = new Set(["start", "steer", "queue"]);

/** Reads stored messages, and omits invalid ones. */
export function parseOutgoing(value: unknown): readonly OutgoingMessage[] {
  return Array.isArray(value) ? value.filter(isOutgoing) : [];
}

function isOutgoing(value: unknown): value is OutgoingMessage {
  const message = value as Partial<OutgoingMessage> | null;
  return (
    typeof message?.key === "string" &&
    typeof message.text === "string" &&
    Array.isArray(message.images) &&
    message.images.every(isAttachedImage) &&
    MODES.has(message.mode ?? "") &&
    STATES.has(message.state ?? "")
  );
}
