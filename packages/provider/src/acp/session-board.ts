import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { AcpHandle } from "./acp-handle.ts";
import type { SessionNotification, SessionUpdate } from "./events/session-notification.ts";
import { PermissionDesk } from "./permissions/permission-desk.ts";
import type { AcpListener } from "./process/acp-agent.ts";

/** Which session is whose: brings what the one agent says to the handle that it is meant for. */
export class SessionBoard implements AcpListener {
  readonly #handles = new Map<string, AcpHandle>();
  /** Sessions that are being resumed, with their cost so far. Updates that arrive meanwhile are their past. */
  readonly #resuming = new Map<string, number>();
  /** What was said of sessions whose ids nobody here knows yet. */
  readonly #early = new Map<string, SessionUpdate[]>();
  readonly #earlyLimit: number;
  #opening = 0;
  #kept = 0;

  constructor(earlyLimit: number) {
    this.#earlyLimit = earlyLimit;
  }

  get handles(): readonly AcpHandle[] {
    return [...this.#handles.values()];
  }

  handle(sessionId: string): AcpHandle | undefined {
    return this.#handles.get(sessionId);
  }

  isResuming(sessionId: string): boolean {
    return this.#resuming.has(sessionId);
  }

  /** What a session that is being resumed had cost before, as far as the agent has reported it. */
  earlierUsd(sessionId: string): number | undefined {
    return this.#resuming.get(sessionId);
  }

  /** Opens a session, new or resumed, and keeps what is said of it until there is a handle. */
  async opening<T>(sessionId: string | undefined, open: () => Promise<T>): Promise<T> {
    this.#opening += 1;
    if (sessionId !== undefined) this.#resuming.set(sessionId, 0);
    try {
      return await open();
    } finally {
      this.#opening -= 1;
      if (sessionId !== undefined) this.#resuming.delete(sessionId);
      if (this.#opening === 0) this.#forgetEarly();
    }
  }

  /** A handle is there until it is released. */
  add(handle: AcpHandle): void {
    const { sessionId } = handle;
    this.#handles.set(sessionId, handle);
    for (const update of this.#early.get(sessionId) ?? []) handle.update(update);
    this.#early.delete(sessionId);
    void handle.released.then(() => {
      if (this.#handles.get(sessionId) === handle) this.#handles.delete(sessionId);
    });
  }

  update({ sessionId, update }: SessionNotification): void {
    const handle = this.#handles.get(sessionId);
    if (handle) return handle.update(update);
    if (this.#resuming.has(sessionId)) return this.#keepCost(sessionId, update);
    if (this.#opening === 0 || this.#kept >= this.#earlyLimit) return;
    this.#kept += 1;
    this.#early.set(sessionId, [...(this.#early.get(sessionId) ?? []), update]);
  }

  async permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const handle = this.#handles.get(request.sessionId);
    return handle ? handle.permission(request) : PermissionDesk.withdrawn;
  }

  unknown(method: string, params: unknown): void {
    const id = (params as { sessionId?: unknown } | null | undefined)?.sessionId;
    if (typeof id === "string") this.#handles.get(id)?.unknownRequest(method);
  }

  #keepCost(sessionId: string, update: SessionUpdate): void {
    if (update.sessionUpdate !== "usage_update" || update.cost?.currency !== "USD") return;
    this.#resuming.set(sessionId, update.cost.amount);
  }

  #forgetEarly(): void {
    this.#early.clear();
    this.#kept = 0;
  }
}
