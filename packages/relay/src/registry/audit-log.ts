import { TokenBucket } from "@codexkit/rpc/async";
import { type DestinationStream, type Logger, pino } from "pino";

/** An event of the audit log, without secrets. Tokens, registrations and grants are identified by their IDs. */
export interface AuditEntry {
  readonly event: AuditEvent;
  readonly environment?: string | undefined;
  readonly registration?: string | undefined;
  readonly grant?: string | undefined;
  readonly token?: string | undefined;
  readonly address?: string | undefined;
  /** The code of a refusal, or the reason why a connection ended. */
  readonly reason?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  /** Number of earlier refusals that were not written. */
  readonly omitted?: number;
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
  readonly #refusals: TokenBucket;
  #omittedRefusals = 0;

  constructor(logger: Logger, refusalsPerMinute: number) {
    this.#logger = logger;
    this.#refusals = new TokenBucket({ perSecond: refusalsPerMinute / 60, burst: refusalsPerMinute });
  }

  /** Appends to a stream, such as a file that only its owner can read. */
  static to(destination: DestinationStream, refusalsPerMinute: number): AuditLog {
    const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
    return new AuditLog(logger, refusalsPerMinute);
  }

  record({ event, ...fields }: AuditEntry): void {
    this.#logger.info({ audit: event, ...fields });
  }

  /**
   * Records a refused request. Anyone can cause refusals, so their rate is limited. The next record has the number of omitted
   * ones.
   */
  recordRefusal(entry: Omit<AuditEntry, "event">): void {
    if (this.#refusals.tryTake(1) > 0) {
      this.#omittedRefusals += 1;
      return;
    }
    const omitted = this.#omittedRefusals;
    this.#omittedRefusals = 0;
    this.record({ event: "request.refused", ...entry, ...(omitted > 0 && { omitted }) });
  }
}
