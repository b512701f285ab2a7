import type { Approval, InboxRequest } from "@codexkit/daemon/client";

/** A command of two parts, one of which needs an approval. */
export const commandRequest: Extract<InboxRequest, { kind: "command" }> = {
  kind: "command",
  action: "command",
  command: "/bin/bash -lc 'npm test && docker compose up -d'",
  cwd: "/srv/app",
  reason: "needs the database to run the tests",
  network: null,
  additionalPermissions: null,
};

/** An open approval with the offers that Codex makes for most requests. */
export function approvalOf(request: InboxRequest, changes: Partial<Approval> = {}): Approval {
  return {
    id: "approval-1",
    sessionId: "session-1",
    threadId: "root",
    turnId: "turn-1",
    itemId: "item-1",
    kind: request.kind,
    request,
    verdict: null,
    offers: [
      { id: "accept", label: "Accept", accepts: true, scope: "call", stores: null },
      {
        id: "acceptForSession",
        label: "Accept for this session",
        accepts: true,
        scope: "session",
        stores: "the same command",
      },
      {
        id: "acceptWithPrefix",
        label: "Accept, and allow commands that start like this",
        accepts: true,
        scope: "always",
        stores: "docker compose",
      },
      { id: "decline", label: "Decline and continue", accepts: false, scope: "call", stores: null },
      { id: "cancel", label: "Decline and stop the turn", accepts: false, scope: "call", stores: null },
    ],
    state: "open",
    answer: null,
    answeredBy: null,
    answeredByName: null,
    answeredAt: null,
    parkedAt: null,
    note: null,
    createdAt: 1_000_000,
    expiresAt: null,
    ...changes,
  };
}
