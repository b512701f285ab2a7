import { EXEC_LIMITS, type ServerLimits } from "../limits.ts";
import type { OutputStream, ReadResult } from "../wire/exec-wire.ts";
import type { ReadParams } from "../wire/process-params.ts";
import type { Child, ChildEvents } from "./child.ts";
import { type ProcessRecord, readRecord } from "./closed-processes.ts";
import { PendingOutput } from "./pending-output.ts";
import { ReplayBuffer } from "./replay-buffer.ts";
import { timerDelay } from "@codexkit/rpc/async";

/** Receives a process's events. */
export interface ProcessListener {
  output(processId: string, seq: number, stream: OutputStream, bytes: Buffer): void;
  exited(processId: string, seq: number, exitCode: number, sandboxDenied: boolean): void;
  closed(processId: string, seq: number): void;
  /** Whether output should wait: no client is connected, or the client reads slowly. */
  readonly isFull: boolean;
  /** Whether a client is connected. */
  readonly isConnected: boolean;
}

/** Whether the exit code and newest output of a sandboxed process look like a denial. */
export type DenialCheck = (exitCode: number, tail: Buffer) => boolean;

/** Chunks that follow each other within this time are a burst: a PTY gives 4 KiB at a time, thousands of times per second. */
const BURST_MS = 2;

/**
 * Two reads of a PTY. Small enough that the kernel refills the PTY while a chunk is encoded; with larger
 * chunks, every read would wait for the refill.
 */
const PTY_CHUNK_BYTES = 8 * 1024;

interface Waiter {
  readonly afterSeq: number;
  readonly wake: () => void;
}

/**
 * One process from its start to the end of its retention. Numbers its events from 1 without gaps, keeps the
 * newest output for replay, and lets readers wait.
 */
export class ManagedProcess implements ChildEvents {
  readonly id: string;
  readonly #listener: ProcessListener;
  readonly #denied: DenialCheck | undefined;
  readonly #replay: ReplayBuffer;
  readonly #waiters = new Set<Waiter>();
  #child: Child | undefined;
  #nextSeq = 1;
  #exitCode: number | undefined;
  #exitReported = false;
  #sandboxDenied = false;
  #drained = false;
  #closed = false;
  readonly #pending = new PendingOutput();
  #pendingStream: OutputStream = "stdout";
  #flushScheduled = false;
  #lastChunkAt = -Infinity;

  /** Called once, when the process has exited and all its output has been read. */
  onClosed: () => void = () => {};

  constructor(
    id: string,
    listener: ProcessListener,
    limits: Pick<ServerLimits, "retainedBytes" | "retainedChunks">,
    denied?: DenialCheck,
  ) {
    this.#replay = new ReplayBuffer(limits.retainedBytes, limits.retainedChunks);
    this.id = id;
    this.#listener = listener;
    this.#denied = denied;
  }

  get hasExited(): boolean {
    return this.#exitCode !== undefined;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get child(): Child | undefined {
    return this.#child;
  }

  /** The current state for reads. */
  get record(): ProcessRecord {
    return {
      replay: this.#replay,
      nextSeq: this.#nextSeq,
      exitCode: this.#exitReported ? this.#exitCode : undefined,
      sandboxDenied: this.#sandboxDenied,
    };
  }

  started(child: Child): void {
    this.#child = child;
    if (this.#listener.isFull) child.pause();
  }

  /** Joins the small reads of one event-loop turn into one chunk. A full chunk is sent immediately. */
  output(stream: OutputStream, bytes: Buffer): void {
    const limit = stream === "pty" ? PTY_CHUNK_BYTES : EXEC_LIMITS.chunkBytes;
    if (stream !== this.#pendingStream || !this.#pending.fits(bytes.length, limit)) this.#flush();
    if (this.#pending.length === 0 && bytes.length >= EXEC_LIMITS.chunkBytes / 2) {
      this.#emit(stream, bytes);
      return;
    }
    this.#pendingStream = stream;
    this.#pending.add(bytes);
    this.#flushSoon();
  }

  exited(exitCode: number): void {
    if (this.#exitCode !== undefined) return;
    this.#exitCode = exitCode;
    // The child's last output is often read in the same turn of the event loop, and should be reported first.
    if (this.#denied && exitCode !== 0 && !this.#drained) {
      // On a busy machine the time may have passed before the event loop could read the output.
      setTimeout(() => setImmediate(() => this.#reportExit()), EXEC_LIMITS.denialGraceMs);
    } else if (this.#drained) this.#reportExit();
    else setImmediate(() => this.#reportExit());
  }

  drained(): void {
    if (this.#drained) return;
    this.#flush();
    this.#drained = true;
    if (this.#exitCode !== undefined) this.#reportExit();
  }

  /** Resumes reading the child, because the client can receive more. */
  resume(): void {
    this.#child?.resume();
  }

  read(params: ReadParams): ReadResult {
    return readRecord(this.record, params, this.#closed);
  }

  /** Resolves when there are events after `afterSeq`, the time has elapsed or the signal aborts. */
  async waitFor(afterSeq: number, waitMs: number, signal: AbortSignal): Promise<void> {
    if (waitMs === 0 || this.#hasNews(afterSeq) || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { afterSeq, wake: () => resolve() };
    this.#waiters.add(waiter);
    const timer = setTimeout(waiter.wake, timerDelay(waitMs));
    signal.addEventListener("abort", waiter.wake, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", waiter.wake);
    this.#waiters.delete(waiter);
  }

  #hasNews(afterSeq: number): boolean {
    if (this.#closed || this.#replay.hasAfter(afterSeq)) return true;
    return this.#exitReported && afterSeq < this.#nextSeq - 1;
  }

  /** Flushes at the end of this turn or, during a burst, after a short delay that joins more small pieces. */
  #flushSoon(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    const flush = (): void => {
      this.#flushScheduled = false;
      this.#flush();
    };
    if (performance.now() - this.#lastChunkAt > BURST_MS) setImmediate(flush);
    else setTimeout(flush, BURST_MS);
  }

  #flush(): void {
    this.#pending.flush((bytes) => this.#emit(this.#pendingStream, bytes));
  }

  #emit(stream: OutputStream, bytes: Buffer): void {
    const seq = this.#nextSeq++;
    this.#lastChunkAt = performance.now();
    this.#replay.push({ seq, stream, bytes });
    this.#listener.output(this.id, seq, stream, bytes);
    if (this.#listener.isFull) this.#child?.pause();
    this.#wakeReaders();
  }

  #reportExit(): void {
    const code = this.#exitCode;
    if (code === undefined || this.#exitReported) {
      this.#closeWhenOver();
      return;
    }
    this.#flush();
    this.#exitReported = true;
    this.#sandboxDenied = this.#denied?.(code, this.#tail()) ?? false;
    this.#listener.exited(this.id, this.#nextSeq++, code, this.#sandboxDenied);
    this.#closeWhenOver();
    this.#wakeReaders();
  }

  #closeWhenOver(): void {
    if (this.#closed || !this.#exitReported || !this.#drained) return;
    this.#closed = true;
    this.#listener.closed(this.id, this.#nextSeq++);
    this.#wakeReaders();
    this.onClosed();
  }

  #tail(): Buffer {
    return Buffer.concat(this.#replay.after(0).map(({ bytes }) => bytes));
  }

  #wakeReaders(): void {
    for (const waiter of this.#waiters) if (this.#hasNews(waiter.afterSeq)) waiter.wake();
  }
}
