import { randomUUID } from "node:crypto";
import { FileHandles } from "../files/file-handles.ts";
import type { ServerLimits } from "../limits.ts";
import { ClientQuestions } from "../network/client-questions.ts";
import type { ProcessListener } from "../process/managed-process.ts";
import { ProcessGroups } from "../process/process-groups.ts";
import { ProcessTable } from "../process/process-table.ts";
import type { OutputStream } from "../wire/exec-wire.ts";
import { SnapshotCache } from "./snapshot-cache.ts";

/** Receives a session's notifications: the connection that it is attached to. */
export interface SessionOutlet {
  send(text: string): void;
  sendBase64(before: string, bytes: Buffer, after: string): void;
  readonly isFull: boolean;
}

/**
 * What a client owns beyond one connection: its processes, its open files and its shell snapshots. A session
 * is attached to at most one connection. Without one, its children keep running until the unread output
 * reaches half of the replay limit, and then they block.
 */
export class Session implements ProcessListener {
  readonly id: string = randomUUID();
  /** The subject of the client's token, if it has one. No client with another token can resume the session. */
  subject: string | undefined;
  readonly processes: ProcessTable;
  readonly snapshots: SnapshotCache;
  readonly files = new FileHandles();
  readonly questions = new ClientQuestions((text) => this.#sendNow(text));
  #outlet: SessionOutlet | undefined;
  #missedBytes = 0;
  readonly #limits: ServerLimits;

  constructor(limits: ServerLimits) {
    this.#limits = limits;
    const groups = new ProcessGroups();
    this.processes = new ProcessTable(this, groups, limits);
    this.snapshots = new SnapshotCache(groups, limits);
  }

  get isAttached(): boolean {
    return this.#outlet !== undefined;
  }

  get isConnected(): boolean {
    return this.isAttached;
  }

  /**
   * Directs notifications to a connection. Missed notifications are not sent again; the client can read them.
   */
  attach(outlet: SessionOutlet): void {
    this.#outlet = outlet;
    this.#missedBytes = 0;
    this.processes.resumeAll();
  }

  /**
   * Called when the client has disconnected. Children that waited for a slow client continue, because their
   * output is retained.
   */
  detach(): void {
    this.#outlet = undefined;
    this.#missedBytes = 0;
    this.questions.withdrawAll();
    this.processes.resumeAll();
  }

  /** Sends a notification that a client can do without. Skipped for a client that reads slowly. */
  notifyIfRoom(method: string, params: object): void {
    if (this.#outlet?.isFull === false) this.#outlet.send(JSON.stringify({ method, params }));
  }

  get isFull(): boolean {
    // Half of the replay limit: the other half may have been in transit when the connection broke.
    return this.#outlet?.isFull ?? this.#missedBytes >= this.#limits.retainedBytes / 2;
  }

  output(processId: string, seq: number, stream: OutputStream, bytes: Buffer): void {
    if (!this.#outlet) this.#missedBytes += bytes.length;
    const id = JSON.stringify(processId);
    this.#outlet?.sendBase64(
      `{"method":"process/output","params":{"processId":${id},"seq":${seq},"stream":"${stream}","chunk":"`,
      bytes,
      `"}}`,
    );
  }

  exited(processId: string, seq: number, exitCode: number, sandboxDenied: boolean): void {
    this.#outlet?.send(
      `{"method":"process/exited","params":{"processId":${JSON.stringify(processId)},"seq":${seq},"exitCode":${exitCode},"sandboxDenied":${sandboxDenied}}}`,
    );
  }

  closed(processId: string, seq: number): void {
    this.#outlet?.send(
      `{"method":"process/closed","params":{"processId":${JSON.stringify(processId)},"seq":${seq}}}`,
    );
  }

  /** Ends every process and closes every file. */
  end(): void {
    this.#outlet = undefined;
    this.questions.withdrawAll();
    this.snapshots.end();
    void this.files.end();
    this.processes.end();
  }

  #sendNow(text: string): boolean {
    this.#outlet?.send(text);
    return this.#outlet !== undefined;
  }
}
