import { type DestinationStream, type Logger, pino } from "pino";

/** What happened, without secrets. Tokens, registrations and grants are named by their IDs. */
export interface AuditEntry {
  readonly event: AuditEvent;
  readonly environment?: string | undefined;
  readonly registration?: string | undefined;
  readonly grant?: string | undefined;
  readonly token?: string | undefined;
  readonly address?: string | undefined;
  /** The code of a refusal, or why a connection ended. */
  readonly reason?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

export type AuditEvent =
  | "executor.registered"
  | "executor.connected"
  | "executor.disconnected"
  | "harness.authorized"
  | "harness.validated"
  | "harness.connected"
  | "harness.disconnected"
  | "request.refused"
  | "token.created"
  | "token.revoked"
  | "node.started"
  | "node.stopped";

/** Writes one JSON line per event. */
export class AuditLog {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Appends to a stream, such as a file that only its owner can read. */
  static to(destination: DestinationStream): AuditLog {
    return new AuditLog(pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination));
  }

  record({ event, ...fields }: AuditEntry): void {
    this.#logger.info({ audit: event, ...fields });
  }
}
