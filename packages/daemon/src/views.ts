import type { ApprovalOffer, InboxRequest, PolicyVerdict } from "./api/approval.ts";
import type { Item, TurnSummary } from "./api/history.ts";
import type { Approval } from "./api/inbox.ts";
import type { Command, Session } from "./api/session.ts";
import type { Token } from "./api/token.ts";
import type { Webhook, WebhookDelivery } from "./api/webhook.ts";
import { commandResult } from "./commands/command-store.ts";
import type {
  ApprovalRow,
  CommandRow,
  ItemRow,
  SessionRow,
  TurnRow,
  WebhookDeliveryRow,
  WebhookRow,
} from "./database/tables.ts";
import { maskAnswer } from "./secrets/mask-answer.ts";
import { DEFAULT_TENANT } from "./session-store/new-session-row.ts";
import type { TokenInfo } from "./tokens/token-store.ts";

// Rows of the store as the API serves them. Secrets (a session's setup, hashes of tokens, secret answers) end here.

export function viewSession(row: SessionRow): Session {
  return {
    id: row.id,
    threadId: row.thread_id,
    name: row.name,
    cwd: row.cwd,
    settings: JSON.parse(row.settings) as Session["settings"],
    goal: parseNullable(row.goal) as Session["goal"],
    phase: row.phase,
    problem: parseNullable(row.problem) as Session["problem"],
    activeTurnId: row.active_turn_id,
    preview: row.preview,
    usage: parseNullable(row.usage) as Session["usage"],
    archivedAt: row.archived_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    priority: row.priority,
    node: row.last_node,
    epoch: row.epoch,
    firstSeq: row.first_seq,
    lastSeq: row.last_seq,
    codexVersion: row.codex_version,
  };
}

export function viewCommand(row: CommandRow): Command {
  const outcome = commandResult(row);
  const { ok: _, ...result } = outcome?.ok === true ? outcome : { ok: true };
  return {
    id: row.id,
    sessionId: row.session_id,
    key: row.key,
    kind: row.kind,
    state: commandState(row, outcome),
    by: row.by,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    result: outcome?.ok === true ? result : null,
    problem: outcome?.ok === false ? outcome.problem : null,
  };
}

function commandState(row: CommandRow, outcome: ReturnType<typeof commandResult>): Command["state"] {
  if (outcome) return outcome.ok ? "done" : "failed";
  return row.started_epoch === null ? "accepted" : "running";
}

export function viewItem(row: ItemRow): Item {
  return {
    id: row.item_id,
    threadId: row.thread_id,
    turnId: row.turn_id,
    kind: row.kind,
    status: row.status,
    firstSeq: row.first_seq,
    lastSeq: row.last_seq,
    item: JSON.parse(row.preview) as Item["item"],
    bodyLength: row.body_length,
  };
}

export function viewTurn(row: TurnRow): TurnSummary {
  return {
    id: row.turn_id,
    threadId: row.thread_id,
    status: row.status,
    title: row.title,
    firstSeq: row.first_seq,
    lastSeq: row.last_seq,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    usage: parseNullable(row.usage) as TurnSummary["usage"],
    diffStat: parseNullable(row.diff_stat) as TurnSummary["diffStat"],
  };
}

export function viewApproval(row: ApprovalRow): Approval {
  const request = JSON.parse(row.request) as InboxRequest;
  return {
    id: row.id,
    sessionId: row.session_id,
    threadId: row.thread_id,
    turnId: row.turn_id,
    itemId: row.item_id,
    kind: request.kind,
    request,
    verdict: parseNullable(row.verdict) as PolicyVerdict | null,
    offers: JSON.parse(row.offers) as ApprovalOffer[],
    state: row.state,
    answer: maskAnswer(request, parseNullable(row.answer) as Record<string, unknown> | null),
    answeredBy: row.answered_by,
    answeredByName: row.answered_by_name,
    answeredAt: row.answered_at,
    parkedAt: row.parked_at,
    note: row.note,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

export function viewWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as Webhook["events"],
    name: row.name,
    sessionId: row.session_id,
    createdBy: row.created_by,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  };
}

export function viewDelivery(row: WebhookDeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    sessionId: row.session_id,
    type: row.type,
    state: row.state,
    attempts: row.attempts,
    nextAt: row.state === "pending" ? row.next_at : null,
    status: row.status,
    error: row.error,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  };
}

export function viewToken(info: TokenInfo): Token {
  return {
    id: info.id,
    name: info.name,
    scopes: [...info.scopes],
    createdAt: info.created_at,
    expiresAt: info.expires_at,
    revokedAt: info.revoked_at,
    lastUsedAt: info.last_used_at,
    parentId: info.parent_id,
    tenant: info.tenant_id ?? DEFAULT_TENANT,
  };
}

function parseNullable(json: string | null): unknown {
  return json === null ? null : (JSON.parse(json) as unknown);
}
