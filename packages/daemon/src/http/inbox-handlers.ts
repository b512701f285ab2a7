import { type ApprovalOffer, checkAnswer, type InboxRequest } from "../api/approval.ts";
import type { ApprovalRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import type { Handlers, HttpServices } from "./handler.ts";
import { viewApproval } from "../views.ts";

export function createInboxHandlers({ database: { inbox } }: HttpServices) {
  async function requireApproval(id: string): Promise<ApprovalRow> {
    const row = await inbox.get(id);
    if (!row) throw new DaemonError("approval_not_found", `There is no approval "${id}".`);
    return row;
  }

  return {
    "GET /inbox": async ({ query: { state, sessionId, cursor, limit } }) => {
      const { rows, nextCursor } = await inbox.list({
        ...(state !== undefined && { state }),
        ...(sessionId !== undefined && { sessionId }),
        ...(cursor !== undefined && { cursor }),
        limit,
      });
      return { data: rows.map(viewApproval), next: nextCursor ?? null };
    },
    "GET /inbox/{approvalId}": async ({ params }) => viewApproval(await requireApproval(params.approvalId)),
    "POST /inbox/{approvalId}/answer": async ({ params: { approvalId }, body, identity }) => {
      const row = await requireApproval(approvalId);
      const misfit = checkAnswer(
        {
          request: JSON.parse(row.request) as InboxRequest,
          offers: JSON.parse(row.offers) as ApprovalOffer[],
        },
        body,
      );
      if (misfit !== undefined) throw new DaemonError("unprocessable", misfit);
      return viewApproval(
        await inbox.answer(approvalId, { answer: body, by: identity.id, name: identity.name }),
      );
    },
  } satisfies Partial<Handlers>;
}
