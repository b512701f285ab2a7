import { CODES, Refusal } from "../wire/refusal.ts";
import * as z from "zod";
import type { Session, SessionOutlet } from "../session/session.ts";
import type { SessionStore } from "../session/session-store.ts";

const initializeParams = z.object({ clientName: z.string(), resumeSessionId: z.string().nullish() });

/**
 * Enforces the order: `initialize`, then `initialized`, and no other calls before both. A failed `initialize`
 * can be retried.
 */
export class Handshake {
  readonly #sessions: SessionStore;
  readonly #outlet: SessionOutlet;
  readonly #info: unknown;
  readonly #subject: string | undefined;
  #session: Session | undefined;
  #confirmed = false;

  constructor(sessions: SessionStore, outlet: SessionOutlet, info: unknown, subject: string | undefined) {
    this.#sessions = sessions;
    this.#outlet = outlet;
    this.#info = info;
    this.#subject = subject;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  initialize(params: unknown): object {
    if (this.#session) {
      throw new Refusal(CODES.invalidRequest, "initialize may only be sent once per connection");
    }
    const parsed = initializeParams.safeParse(params);
    if (!parsed.success) {
      throw new Refusal(CODES.invalidParams, parsed.error.issues[0]?.message ?? "Invalid params.");
    }
    const { resumeSessionId } = parsed.data;
    this.#session =
      typeof resumeSessionId === "string"
        ? this.#sessions.resume(resumeSessionId, this.#outlet, this.#subject)
        : this.#sessions.open(this.#outlet, this.#subject);
    return { sessionId: this.#session.id, environmentInfo: this.#info };
  }

  /** Handles a notification. Returns false if it violates the protocol. */
  notified(method: string): boolean {
    if (method !== "initialized" || !this.#session) return false;
    this.#confirmed = true;
    return true;
  }

  /** Returns why a request can't be accepted yet, or undefined. */
  objection(method: string): string | undefined {
    if (!this.#session) return `client must call initialize before using ${method}`;
    return this.#confirmed ? undefined : `client must send initialized before using ${method}`;
  }
}
