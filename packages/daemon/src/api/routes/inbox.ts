import { z } from "zod";
import { inboxAnswer } from "../approval.ts";
import { page } from "../history.ts";
import { approval, approvalState } from "../inbox.ts";
import { cursor, identifier, pageLimit } from "../parameters.ts";
import type { Route } from "../route.ts";

const approvalParams = z.strictObject({ approvalId: identifier });

export const inboxRoutes = {
  "GET /inbox": {
    summary: "List approvals and questions of all sessions, newest first",
    tag: "inbox",
    scope: "read",
    query: z.strictObject({
      state: approvalState.optional().meta({ description: "Default: all." }),
      sessionId: identifier.optional(),
      cursor: cursor.optional(),
      limit: pageLimit,
    }),
    status: 200,
    response: page("ApprovalPage", approval),
    problems: ["invalid_cursor"],
  },
  "GET /inbox/{approvalId}": {
    summary: "Read an approval or a question",
    tag: "inbox",
    scope: "read",
    params: approvalParams,
    status: 200,
    response: approval,
    problems: ["approval_not_found"],
  },
  "POST /inbox/{approvalId}/answer": {
    summary: "Answer an approval or a question",
    description:
      "The first answer wins. Later answers are rejected with `already_answered`, which includes the winning answer.",
    tag: "inbox",
    scope: "approve",
    params: approvalParams,
    body: inboxAnswer,
    status: 200,
    response: approval,
    problems: ["approval_not_found", "already_answered", "unprocessable", "store_full"],
  },
} as const satisfies Record<string, Route>;
