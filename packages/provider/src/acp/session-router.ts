import { setTimeout as delay } from "node:timers/promises";
import { BoundedSet } from "@codexkit/rpc/async";
import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { AcpHandle } from "./acp-handle.ts";
import type { SessionNotification, SessionUpdate } from "./events/session-notification.ts";
import type { AcpLimits } from "./process/limits.ts";
import { PermissionBroker } from "./permissions/permission-broker.ts";
import type { AcpListener } from "./process/acp-agent.ts";

/** Number of ended sessions to remember. */
const ENDED_SESSIONS = 1_024;

interface ReplayedHistory {
  /** Cost of the session so far, if the agent reported it. */
  usd: number;
  /** Number of updates received. */
  updates: number;
}

/** Routes the messages of one agent process to the handles of its sessions. */
export class SessionRouter implements AcpListener {
  readonly #handles = new Map<string, AcpHandle>();
  /** Sessions that are being resumed. Updates that arrive meanwhile are their history. */
  readonly #resuming = new Map<string, ReplayedHistory>();
  /** Recently ended sessions. */
  readonly #ended = new BoundedSet<string>(ENDED_SESSIONS);
  /** Updates of sessions whose handles don't exist yet. */
  readonly #early = new Map<string, SessionUpdate[]>();
  readonly #earlyLimit: number;
  #opening = 0;
  #earlyCount = 0;

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

  /** Cost of a session before the resume, if the agent reported it. */
  earlierUsd(sessionId: string): number | undefined {
    return this.#resuming.get(sessionId)?.usd;
  }

  /** Whether a session ended on this provider, so that the agent has stored it or is about to. */
  hasEnded(sessionId: string): boolean {
    return this.#ended.has(sessionId);
  }

  /** Waits until the agent has replayed the history of a session: no update for a while. */
  async waitForReplay(sessionId: string, { replayQuietMs, replayMs }: AcpLimits): Promise<void> {
    const history = this.#resuming.get(sessionId);
    if (!history) return;
    const deadline = performance.now() + replayMs;
    let before: number;
    do {
      before = history.updates;
      await delay(replayQuietMs);
    } while (history.updates !== before && performance.now() < deadline);
  }

  /** Opens a session. Updates that arrive meanwhile are kept for its handle. */
  async open<T>(sessionId: string | undefined, open: () => Promise<T>): Promise<T> {
    this.#opening += 1;
    if (sessionId !== undefined) this.#resuming.set(sessionId, { usd: 0, updates: 0 });
    try {
      return await open();
    } finally {
      this.#opening -= 1;
      if (sessionId !== undefined) this.#resuming.delete(sessionId);
      if (this.#opening === 0) this.#forgetEarly();
    }
  }

  /** Adds a handle. It is removed when it is released. */
  add(handle: AcpHandle): void {
    const { sessionId } = handle;
    this.#handles.set(sessionId, handle);
    for (const update of this.#early.get(sessionId) ?? []) handle.onUpdate(update);
    this.#early.delete(sessionId);
    void handle.released.then(() => {
      if (this.#handles.get(sessionId) === handle) this.#handles.delete(sessionId);
      this.#ended.add(sessionId);
    });
  }

  onUpdate({ sessionId, update }: SessionNotification): void {
    const handle = this.#handles.get(sessionId);
    if (handle) return handle.onUpdate(update);
    const history = this.#resuming.get(sessionId);
    if (history) return addToHistory(history, update);
    if (this.#opening === 0 || this.#earlyCount >= this.#earlyLimit) return;
    this.#earlyCount += 1;
    this.#early.set(sessionId, [...(this.#early.get(sessionId) ?? []), update]);
  }

  async onPermissionRequest(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const handle = this.#handles.get(request.sessionId);
    return handle ? handle.onPermissionRequest(request) : PermissionBroker.withdrawn;
  }

  onUnknownRequest(method: string, params: unknown): void {
    const id = (params as { sessionId?: unknown } | null | undefined)?.sessionId;
    if (typeof id === "string") this.#handles.get(id)?.onUnknownRequest(method);
  }

  #forgetEarly(): void {
    this.#early.clear();
    this.#earlyCount = 0;
  }
}

function addToHistory(history: ReplayedHistory, update: SessionUpdate): void {
  history.updates += 1;
  if (update.sessionUpdate !== "usage_update" || update.cost?.currency !== "USD") return;
  history.usd = update.cost.amount;
}
