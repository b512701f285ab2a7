import type { ServerLimits } from "../limits.ts";
import type { ReadResult } from "../wire/exec-wire.ts";
import type { ReadParams } from "../wire/process-params.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";

/** The state of a process that `process/read` reports. */
export interface ProcessRecord {
  readonly replay: ReplayBuffer;
  readonly nextSeq: number;
  /** Undefined until the exit has been reported. */
  readonly exitCode: number | undefined;
  readonly sandboxDenied: boolean;
}

export function readRecord(
  { replay, nextSeq, exitCode, sandboxDenied }: ProcessRecord,
  { afterSeq, maxBytes }: ReadParams,
  closed: boolean,
): ReadResult {
  const chunks = replay.after(afterSeq ?? 0, maxBytes ?? Infinity);
  const last = chunks.at(-1);
  return {
    chunks: chunks.map(({ seq, stream, bytes }) => ({ seq, stream, chunk: bytes.toString("base64") })),
    nextSeq: typeof maxBytes === "number" && last ? last.seq + 1 : nextSeq,
    exited: exitCode !== undefined,
    exitCode: exitCode ?? null,
    closed,
    failure: null,
    sandboxDenied,
  };
}

/** A closed process without child, streams and timers, because thousands may close within the retention time. */
export interface ClosedProcess extends ProcessRecord {
  readonly hasStdin: boolean;
}

interface Retained {
  readonly process: ClosedProcess;
  readonly until: number;
}

/**
 * The closed processes of one session, oldest first. Each stays readable for a while. Beyond a budget of bytes the oldest
 * lose their output. Without a connected client nothing is dropped, because the output may not have been received.
 */
export class ClosedProcesses {
  readonly #limits: Pick<ServerLimits, "closedRetainedBytes" | "closedRetentionMs">;
  readonly #retained = new Map<string, Retained>();
  /** Ids of processes that still have output, oldest first. */
  readonly #withOutput = new Set<string>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Pick<ServerLimits, "closedRetainedBytes" | "closedRetentionMs">) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#retained.size;
  }

  get(id: string): ClosedProcess | undefined {
    return this.#retained.get(id)?.process;
  }

  add(id: string, process: ClosedProcess, { isConnected }: { isConnected: boolean }): void {
    this.#retained.set(id, { process, until: performance.now() + this.#limits.closedRetentionMs });
    if (process.replay.bytes > 0) this.#withOutput.add(id);
    this.#bytes += process.replay.bytes;
    if (isConnected) this.#dropOutput();
    this.#schedule();
  }

  /** False if there is none. */
  forgetOldest(): boolean {
    const [oldest] = this.#retained.keys();
    if (oldest !== undefined) this.#forget(oldest);
    return oldest !== undefined;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#retained.clear();
    this.#withOutput.clear();
    this.#bytes = 0;
  }

  #dropOutput(): void {
    for (const id of this.#withOutput) {
      if (this.#bytes <= this.#limits.closedRetainedBytes) return;
      const replay = this.#retained.get(id)?.process.replay;
      this.#withOutput.delete(id);
      this.#bytes -= replay?.bytes ?? 0;
      replay?.clear();
    }
  }

  #forget(id: string): void {
    this.#bytes -= this.#retained.get(id)?.process.replay.bytes ?? 0;
    this.#retained.delete(id);
    this.#withOutput.delete(id);
  }

  /** One timer for all of them: they expire in the order in which they closed. */
  #schedule(): void {
    const [oldest] = this.#retained.values();
    if (this.#timer || !oldest) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#forgetExpired();
        this.#schedule();
      },
      // Others may expire while the expired ones are being forgotten.
      Math.max(0, Math.ceil(oldest.until - performance.now())),
    );
    this.#timer.unref();
  }

  #forgetExpired(): void {
    const now = performance.now();
    for (const [id, { until }] of this.#retained) {
      if (until > now) return;
      this.#forget(id);
    }
  }
}
