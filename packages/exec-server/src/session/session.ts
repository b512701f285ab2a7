import { randomUUID } from "node:crypto";
import { FileHandles } from "../files/file-handles.ts";
import type { ServerLimits } from "../limits.ts";
import { ClientQuestions } from "../network/client-questions.ts";
import type { ProcessListener } from "../process/managed-process.ts";
import { ProcessGroups } from "../process/process-groups.ts";
import { ProcessTable } from "../process/process-table.ts";
import type { OutputStream } from "../wire/exec-wire.ts";
import { SnapshotCache } from "./snapshot-cache.ts";

/** Where a session's notifications go: the connection that it is attached to. */
export interface SessionOutlet {
  send(text: string): void;
  sendBase64(before: string, bytes: Buffer, after: string): void;
  readonly isFull: boolean;
}

/**
 * What a client owns beyond one connection: its processes, its open files and the states of its shells. Attached to one connection or to
 * none; while it is attached to none, children run on until as much output waits as is kept for replay, and then they wait
 * too.
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

  /** From now on notifications go here. What was missed is not sent again: it is there to be read. */
  attach(outlet: SessionOutlet): void {
    this.#outlet = outlet;
    this.#missedBytes = 0;
    this.processes.resumeAll();
  }

  /** No client is connected now. Children that waited for a slow client continue: their output is retained. */
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
    // Half of what is kept: the other half may have been on its way when the connection broke.
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

  /** Ends every process. */
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
