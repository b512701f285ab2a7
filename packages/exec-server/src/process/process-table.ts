import { BoundedSet } from "@codexkit/rpc/async";
import { EXEC_LIMITS, type ServerLimits } from "../limits.ts";
import { decodeBase64 } from "../wire/base64.ts";
import type { ReadResult, WriteStatus } from "../wire/exec-wire.ts";
import type { ReadParams, WriteParams } from "../wire/process-params.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import type { Child, ChildEvents } from "./child.ts";
import { ClosedProcesses, readRecord } from "./closed-processes.ts";
import { type DenialCheck, ManagedProcess, type ProcessListener } from "./managed-process.ts";
import type { ProcessGroups } from "./process-groups.ts";

export interface StartOptions {
  readonly denied?: DenialCheck | undefined;
  /** Resources to dispose of when the process has closed. */
  readonly leftovers?: Disposable | undefined;
}

export type LaunchChild = (events: ChildEvents) => Promise<Child> | Child;

interface Entry {
  readonly process: ManagedProcess;
  /** The newest write ids, so that a repeated write is applied once. */
  readonly writeIds: BoundedSet<string>;
  /** Terminated before it was started. It is killed as soon as it has started. */
  cancelled: boolean;
  readonly leftovers: Disposable | undefined;
}

/** The processes of one session, by the ids that its client chose. */
export class ProcessTable {
  /** Processes that are starting or running, or whose output has not been read completely. */
  readonly #entries = new Map<string, Entry>();
  readonly #closed: ClosedProcesses;
  readonly #listener: ProcessListener;
  readonly #groups: ProcessGroups;
  readonly #limits: ServerLimits;
  #ended = false;

  constructor(listener: ProcessListener, groups: ProcessGroups, limits: ServerLimits) {
    this.#listener = listener;
    this.#groups = groups;
    this.#limits = limits;
    this.#closed = new ClosedProcesses(limits);
  }

  /** Reserves the id at once, so that of two starts with one id exactly one succeeds. A failed start frees it. */
  async start(id: string, launch: LaunchChild, { denied, leftovers }: StartOptions = {}): Promise<void> {
    if (this.#entries.has(id) || this.#closed.get(id))
      throw new Refusal(CODES.invalidRequest, `process ${id} already exists`);
    this.#makeRoom();
    const process = new ManagedProcess(id, this.#listener, this.#limits, denied);
    const entry: Entry = {
      process,
      writeIds: new BoundedSet(EXEC_LIMITS.rememberedWrites),
      cancelled: false,
      leftovers,
    };
    this.#entries.set(id, entry);
    try {
      const child = await launch(process);
      this.#groups.add(child.pid);
      process.started(child);
    } catch (error) {
      this.#entries.delete(id);
      throw error;
    }
    process.onClosed = () => this.#finish(id, entry);
    if (process.isClosed) this.#finish(id, entry);
    if (entry.cancelled || this.#ended) this.#kill(entry);
  }

  async read(params: ReadParams, signal: AbortSignal): Promise<ReadResult> {
    const closed = this.#closed.get(params.processId);
    if (closed) return readRecord(closed, params, true);
    const entry = this.#entries.get(params.processId);
    if (!entry) throw new Refusal(CODES.invalidRequest, `unknown process id ${params.processId}`);
    if (!entry.process.child) {
      throw new Refusal(CODES.invalidRequest, `process ${params.processId} is still starting`);
    }
    await entry.process.waitFor(params.afterSeq ?? 0, params.waitMs ?? 0, signal);
    return entry.process.read(params);
  }

  async write({ processId, chunk, writeId }: WriteParams): Promise<{ status: WriteStatus }> {
    if (writeId === "") throw new Refusal(CODES.invalidParams, "writeId must not be empty");
    const bytes = decodeBase64(chunk);
    if (!bytes) throw new Refusal(CODES.invalidParams, "chunk is not valid base64");
    const closed = this.#closed.get(processId);
    if (closed) return { status: closed.hasStdin ? "accepted" : "stdinClosed" };
    const entry = this.#entries.get(processId);
    if (!entry) return { status: "unknownProcess" };
    const { child } = entry.process;
    if (!child) return { status: "starting" };
    if (!child.stdin) return { status: "stdinClosed" };
    if (!entry.writeIds.has(writeId)) {
      entry.writeIds.add(writeId);
      await child.stdin.write(bytes);
    }
    return { status: "accepted" };
  }

  interrupt(id: string): void {
    const process = this.#entries.get(id)?.process;
    if (process?.child && !process.hasExited) this.#groups.signal(process.child.pid, "SIGINT");
  }

  terminate(id: string): { running: boolean } {
    const entry = this.#entries.get(id);
    if (!entry) return { running: false };
    if (entry.process.hasExited) {
      // A detached process may hold its output open for any length of time. Nothing more of it is read.
      this.#kill(entry);
      return { running: false };
    }
    if (entry.process.child) this.#kill(entry);
    else entry.cancelled = true;
    return { running: true };
  }

  /** Resumes reading every child, because the client can receive more. */
  resumeAll(): void {
    for (const { process } of this.#entries.values()) process.resume();
  }

  /** Kills every process of the session and their background processes. */
  end(): void {
    this.#ended = true;
    for (const entry of this.#entries.values()) this.#kill(entry);
    this.#entries.clear();
    this.#closed.clear();
    this.#groups.killAll();
  }

  /** Forgets the process that closed first if the table is full, so that a client can start any number in a row. */
  #makeRoom(): void {
    const { processes } = this.#limits;
    if (this.#entries.size + this.#closed.size < processes || this.#closed.forgetOldest()) return;
    throw new Refusal(CODES.invalidRequest, `${processes} processes are running, the most per session`);
  }

  #kill({ process }: Entry): void {
    const { child } = process;
    if (!child) return;
    if (!process.isClosed) this.#groups.kill(child.pid);
    child.abandon();
  }

  #finish(id: string, entry: Entry): void {
    const { process, leftovers } = entry;
    if (process.child) this.#groups.leaderEnded(process.child.pid);
    leftovers?.[Symbol.dispose]();
    this.#entries.delete(id);
    if (this.#ended) return;
    const { record } = process;
    record.replay.trim();
    const hasStdin = process.child?.stdin !== undefined;
    this.#closed.add(id, { ...record, hasStdin }, { isConnected: this.#listener.isConnected });
  }
}
