import { CODES, Refusal } from "../wire/refusal.ts";
import type { ServerLimits } from "../limits.ts";
import { Session, type SessionOutlet } from "./session.ts";

/**
 * The sessions of one server. A session without a connection waits a while for its client; then its processes
 * are ended.
 */
export class SessionStore {
  readonly #limits: ServerLimits;
  readonly #sessions = new Map<string, Session>();
  readonly #expiries = new Map<string, NodeJS.Timeout>();

  constructor(limits: ServerLimits) {
    this.#limits = limits;
  }

  open(outlet: SessionOutlet, subject: string | undefined): Session {
    const session = new Session(this.#limits);
    session.subject = subject;
    this.#sessions.set(session.id, session);
    session.attach(outlet);
    return session;
  }

  resume(id: string, outlet: SessionOutlet, subject: string | undefined): Session {
    const session = this.#sessions.get(id);
    const isOwn = session?.subject === undefined || session.subject === subject;
    if (!session || !isOwn) throw new Refusal(CODES.invalidRequest, `unknown session id ${id}`);
    if (session.isAttached) {
      throw new Refusal(CODES.sessionBusy, `session ${id} is already attached to another connection`);
    }
    clearTimeout(this.#expiries.get(id));
    this.#expiries.delete(id);
    session.subject = subject;
    session.attach(outlet);
    return session;
  }

  detach(session: Session): void {
    session.detach();
    if (!this.#sessions.has(session.id)) return;
    this.#expiries.set(
      session.id,
      setTimeout(() => this.end(session), this.#limits.sessionTtlMs),
    );
  }

  end(session: Session): void {
    clearTimeout(this.#expiries.get(session.id));
    this.#expiries.delete(session.id);
    this.#sessions.delete(session.id);
    session.end();
  }

  endAll(): void {
    for (const session of this.#sessions.values()) this.end(session);
  }
}
