import type { NewSessionEvent } from "../api/event.ts";
import type { Ownership } from "../database/ownership.ts";
import type { Page } from "../database/session-store.ts";
import type { ApprovalRow, ApprovalState } from "../database/tables.ts";

export interface NewApproval {
  /** Default: a new UUID. */
  readonly id?: string;
  readonly threadId: string;
  readonly turnId?: string;
  readonly itemId?: string;
  readonly callId?: string;
  readonly requestId: string | number;
  /** The SDK's kind of the request. */
  readonly kind: string;
  /** Hash of what is asked, to recognise a request that is sent again. */
  readonly fingerprint: string;
  readonly request: unknown;
  readonly verdict?: unknown;
  readonly offers: readonly unknown[];
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
  readonly rolloutBytes?: number;
}

export interface InboxQuery {
  readonly state?: ApprovalState | readonly ApprovalState[];
  readonly sessionId?: string;
  readonly cursor?: string;
  /** Default: 50. */
  readonly limit?: number;
}

/** Approvals, permission requests, questions and elicitations of all sessions. */
export interface Inbox {
  /**
   * Stores an open approval and the event `inbox.opened` after `events`. A request with the fingerprint of an open, parked or
   * undelivered one of this session and thread is recognised: its row gets the new request ID and is returned.
   */
  open(
    owner: Ownership,
    approval: NewApproval,
    events?: readonly NewSessionEvent[],
  ): Promise<{ readonly approval: ApprovalRow; readonly isNew: boolean }>;
  /**
   * Answers an open or parked approval, and appends `inbox.answered`. The first answer wins: a later one rejects with
   * `already_answered` and the winner in `details`. The same answer of the same person again is no conflict. Rejects with
   * `approval_not_found`.
   */
  answer(id: string, answer: { readonly answer: unknown; readonly by: string }): Promise<ApprovalRow>;
  /** Records that Codex has the answer. */
  delivered(owner: Ownership, id: string, note?: string, events?: readonly NewSessionEvent[]): Promise<void>;
  /** Closes an approval that needs no answer any more. No-op if it is closed or delivered. */
  withdraw(owner: Ownership, id: string, note: string, events?: readonly NewSessionEvent[]): Promise<void>;
  /** Marks an open or answered approval as waiting without a process. */
  park(owner: Ownership, id: string, note: string): Promise<void>;
  /** Expires the open approvals of an owner whose time is over, and returns them. */
  expire(owner: Ownership): Promise<readonly ApprovalRow[]>;
  get(id: string): Promise<ApprovalRow | undefined>;
  /** Newest first. */
  list(query?: InboxQuery): Promise<Page<ApprovalRow>>;
  /** Approvals changed at or after a time of the store's clock, oldest change first. */
  changedSince(
    updatedAt: number,
    options?: { readonly afterId?: string; readonly limit?: number },
  ): Promise<readonly ApprovalRow[]>;
  /** Resolves when the approval is no longer open. Rejects when the signal aborts. */
  waitForAnswer(id: string, options?: { readonly signal?: AbortSignal }): Promise<ApprovalRow>;
}
