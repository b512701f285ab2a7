import type { Store } from "@codexkit/store";
import type { InboxRequest } from "../api/approval.ts";
import type { DaemonTables } from "../database/tables.ts";
import { secretAnswers } from "../secrets/mask-answer.ts";

export interface SecretAnswers {
  readonly callId: string | null;
  readonly answers: readonly string[];
}

/** Reads the answers that were given to secret questions of sessions. Questions without such an answer are left out. */
export async function readSecretAnswers(
  { db }: Store<DaemonTables>,
  sessionIds: readonly string[],
): Promise<readonly SecretAnswers[]> {
  const rows = await db
    .selectFrom("approval")
    .select(["call_id", "request", "answer"])
    .where("session_id", "in", sessionIds)
    .where("kind", "=", "userInput" satisfies InboxRequest["kind"])
    .where("answer", "is not", null)
    .execute();
  return rows.flatMap(({ call_id: callId, request, answer }) => {
    if (answer === null) return [];
    const parsed = JSON.parse(answer) as Record<string, unknown>;
    const answers = secretAnswers(JSON.parse(request) as InboxRequest, parsed);
    return answers.length === 0 ? [] : [{ callId, answers }];
  });
}
