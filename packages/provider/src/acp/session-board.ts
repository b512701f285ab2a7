import { setTimeout as delay } from "node:timers/promises";
import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { AcpHandle } from "./acp-handle.ts";
import type { SessionNotification, SessionUpdate } from "./events/session-notification.ts";
import type { AcpLimits } from "./limits.ts";
import { PermissionDesk } from "./permissions/permission-desk.ts";
import type { AcpListener } from "./process/acp-agent.ts";

/** Ended sessions that are remembered. */
const ENDED_SESSIONS = 1_024;

interface ReplayedPast {
  /** What the session has cost, as far as the agent has reported it. */
  usd: number;
  /** How many updates it had. */
  updates: number;
}

/** Which session is whose: brings what the one agent says to the handle that it is meant for. */
export class SessionBoard implements AcpListener {
  readonly #handles = new Map<string, AcpHandle>();
  /** Sessions that are being resumed. Updates that arrive meanwhile are their past. */
  readonly #resuming = new Map<string, ReplayedPast>();
  /** Sessions that have ended here, the newest of them. */
  readonly #ended = new Set<string>();
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
    return this.#resuming.get(sessionId)?.usd;
  }

  /** Whether a session has ended here, so that the agent has it or had it a moment ago. */
  hasEnded(sessionId: string): boolean {
    return this.#ended.has(sessionId);
  }

  /** Waits until the agent has sent no update of a session that is being resumed for a while. */
  async untilQuiet(sessionId: string, { replayQuietMs, replayMs }: AcpLimits): Promise<void> {
    const past = this.#resuming.get(sessionId);
    if (!past) return;
    const deadline = performance.now() + replayMs;
    let before: number;
    do {
      before = past.updates;
      await delay(replayQuietMs);
    } while (past.updates !== before && performance.now() < deadline);
  }

  /** Opens a session, new or resumed, and keeps what is said of it until there is a handle. */
  async opening<T>(sessionId: string | undefined, open: () => Promise<T>): Promise<T> {
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

  /** A handle is there until it is released. */
  add(handle: AcpHandle): void {
    const { sessionId } = handle;
    this.#handles.set(sessionId, handle);
    for (const update of this.#early.get(sessionId) ?? []) handle.update(update);
    this.#early.delete(sessionId);
    void handle.released.then(() => {
      if (this.#handles.get(sessionId) === handle) this.#handles.delete(sessionId);
      this.#remember(sessionId);
    });
  }

  update({ sessionId, update }: SessionNotification): void {
    const handle = this.#handles.get(sessionId);
    if (handle) return handle.update(update);
    const past = this.#resuming.get(sessionId);
    if (past) return addToPast(past, update);
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

  #remember(sessionId: string): void {
    this.#ended.add(sessionId);
    const [oldest] = this.#ended;
    if (this.#ended.size > ENDED_SESSIONS && oldest !== undefined) this.#ended.delete(oldest);
  }

  #forgetEarly(): void {
    this.#early.clear();
    this.#kept = 0;
  }
}

function addToPast(past: ReplayedPast, update: SessionUpdate): void {
  past.updates += 1;
  if (update.sessionUpdate !== "usage_update" || update.cost?.currency !== "USD") return;
  past.usd = update.cost.amount;
}
