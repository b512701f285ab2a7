import type { McpElicitationRequest, McpToolApproval } from "codexkit";
import type { Ownership } from "../database/ownership.ts";
import type { ApprovalRow } from "../database/tables.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { waitsForTool } from "../parking/waiting-tool.ts";
import { isSameTool } from "../policy/repeated-tool.ts";
import { toInboxRequest } from "../policy/to-inbox-request.ts";

export interface RepeatedToolsDeps {
  readonly inbox: Inbox;
  readonly owner: Ownership;
  /** The thread's rollout file. */
  readonly rollout: (threadId: string) => Promise<Uint8Array | undefined>;
}

/**
 * Recognises Codex's approval requests for MCP tools when Codex repeats them on a new connection. The SDK recognises such requests
 * by the items of their calls, which the new connection has not received.
 */
export class RepeatedTools {
  readonly #deps: RepeatedToolsDeps;
  /** Turns whose start was received on the current connection. */
  readonly #startedTurns = new Set<string>();
  readonly #searches = new Set<Promise<unknown>>();

  constructor(deps: RepeatedToolsDeps) {
    this.#deps = deps;
  }

  turnStarted(turnId: string): void {
    this.#startedTurns.add(turnId);
  }

  turnEnded(turnId: string): void {
    this.#startedTurns.delete(turnId);
  }

  disconnected(): void {
    this.#startedTurns.clear();
  }

  /** Resolves when no search for an entry is running. */
  async searched(): Promise<void> {
    await Promise.allSettled(this.#searches);
  }

  /**
   * Finds the inbox entry of the original request.
   *
   * @param asked Returns the fingerprints of the requests on the current connection.
   * @param onFound Called before `searched` resolves.
   */
  async findEntry(
    request: McpElicitationRequest,
    {
      undelivered,
      asked,
      onFound,
    }: {
      readonly undelivered: Promise<readonly ApprovalRow[]>;
      readonly asked: () => ReadonlySet<string | undefined>;
      readonly onFound: (row: ApprovalRow) => void;
    },
  ): Promise<ApprovalRow | undefined> {
    const search = undelivered.then((rows) => {
      const known = asked();
      const found = rows.find(
        (row) =>
          !known.has(row.fingerprint) &&
          // A request that was answered on this connection is not repeated.
          (row.submitted_at === null || row.epoch < this.#deps.owner.epoch) &&
          isSameTool(row, request),
      );
      if (found) onFound(found);
      return found;
    });
    this.#searches.add(search);
    try {
      return await search;
    } finally {
      this.#searches.delete(search);
    }
  }

  /**
   * Finds the approval for a request whose connection was lost before an entry was stored. The thread's file then contains the
   * call. Undefined for a turn that started on this connection, because its calls were received. Call it after the request was
   * published, when the starts of turns and the thread's file are known.
   */
  async findCall({
    possibleApproval,
    threadId,
    turnId,
  }: McpElicitationRequest): Promise<McpToolApproval | undefined> {
    if (!possibleApproval || turnId === null || this.#startedTurns.has(turnId)) return undefined;
    const request = toInboxRequest(possibleApproval);
    if (request.kind !== "mcpTool") return undefined;
    const { inbox, owner, rollout } = this.#deps;
    const { rows } = await inbox.list({ sessionId: owner.sessionId, limit: 200 });
    const file = (await rollout(threadId)) ?? new Uint8Array();
    const ofTurn = rows.filter((row) => row.thread_id === threadId && row.turn_id === turnId);
    return waitsForTool(file, request, ofTurn) ? possibleApproval : undefined;
  }
}
