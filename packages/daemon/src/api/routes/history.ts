import { z } from "zod";
import { policyVerdict } from "../approval.ts";
import { eventPage, item, sessionEvent, turn } from "../history.ts";
import { cursor, identifier, integerParameter, pageLimit } from "../parameters.ts";
import type { Route } from "../route.ts";
import { tokenUsage } from "../session.ts";
import { streamFrame } from "../stream.ts";
import { ofSession, sessionParams } from "./sessions.ts";

const itemParams = z.strictObject({ sessionId: identifier, itemId: identifier });

const positionQuery = z.strictObject({
  before: integerParameter(1)
    .optional()
    .meta({ description: "`firstSeq` of the oldest entry that the client has." }),
  limit: pageLimit,
});

export const historyRoutes = {
  "GET /sessions/{sessionId}/events": {
    summary: "Read the events of a session, as pages or as a stream",
    description:
      "With `Accept: text/event-stream`: all events after the cursor, then new events as they happen. The ID of each message is the event's `seq`. A client that reconnects with `Last-Event-ID` receives every event exactly once. Comments keep the connection alive.",
    tag: "history",
    scope: "read",
    params: sessionParams,
    query: z.strictObject({
      after: integerParameter(0)
        .optional()
        .meta({ description: "Only events with a higher `seq`. Default: `Last-Event-ID`, or 0." }),
      limit: integerParameter(1, 5000).default(500).meta({ description: "Of a page." }),
    }),
    status: 200,
    response: eventPage,
    stream: sessionEvent,
    problems: [...ofSession, "invalid_cursor", "too_many_connections"],
  },
  "GET /sessions/{sessionId}/items": {
    summary: "Read the history as items, newest first",
    tag: "history",
    scope: "read",
    params: sessionParams,
    query: positionQuery.extend({
      turnId: identifier.optional(),
      threadId: identifier
        .optional()
        .meta({ description: "ID of the session's thread or of the thread of one of its agents." }),
    }),
    status: 200,
    response: z
      .object({ data: z.array(item), next: z.int().nullable().meta({ description: "Pass it as `before`." }) })
      .meta({ id: "ItemPage" }),
    problems: ofSession,
  },
  "GET /sessions/{sessionId}/items/{itemId}/body": {
    summary: "Read the full text of an item, or a range of it",
    tag: "history",
    scope: "read",
    params: itemParams,
    query: z.strictObject({
      offset: integerParameter(0).default(0).meta({ description: "In UTF-16 code units." }),
      path: z.string().max(1024).optional().meta({
        description:
          "JSON pointer to a text in the item, such as `/aggregatedOutput`. Default: the longest text.",
      }),
      limit: integerParameter(1, 1_048_576).default(65_536).meta({ description: "In UTF-16 code units." }),
    }),
    status: 200,
    response: z
      .object({
        text: z.string(),
        offset: z.int(),
        length: z.int().meta({ description: "Length of the full text. It grows while the item is running." }),
        next: z.int().nullable().meta({ description: "Pass as `offset` to continue. Null at the end." }),
      })
      .meta({ id: "ItemBody" }),
    problems: [...ofSession, "not_found"],
  },
  "GET /sessions/{sessionId}/turns": {
    summary: "Read an outline of the turns, newest first",
    tag: "history",
    scope: "read",
    params: sessionParams,
    query: positionQuery,
    status: 200,
    response: z
      .object({ data: z.array(turn), next: z.int().nullable().meta({ description: "Pass it as `before`." }) })
      .meta({ id: "TurnPage" }),
    problems: ofSession,
  },
  "GET /sessions/{sessionId}/plan": {
    summary: "Read the newest plan",
    tag: "history",
    scope: "read",
    params: sessionParams,
    status: 200,
    response: z
      .object({
        turnId: z.string().nullable(),
        plan: z.array(z.object({ step: z.string(), status: z.string() })),
        explanation: z.string().nullable(),
      })
      .meta({ id: "Plan" }),
    problems: ofSession,
  },
  "GET /sessions/{sessionId}/diff": {
    summary: "Read the unified diff of a turn, or of the newest turn that changed files",
    tag: "history",
    scope: "read",
    params: sessionParams,
    query: z.strictObject({
      turnId: identifier.optional().meta({ description: "Default: the newest turn that changed files." }),
    }),
    status: 200,
    response: z.object({ turnId: z.string().nullable(), diff: z.string() }).meta({ id: "Diff" }),
    problems: ofSession,
  },
  "GET /sessions/{sessionId}/usage": {
    summary: "Read the token usage of the session",
    tag: "history",
    scope: "read",
    params: sessionParams,
    status: 200,
    response: z.object({ total: tokenUsage.nullable() }).meta({ id: "Usage" }),
    problems: ofSession,
  },
  "POST /sessions/{sessionId}/policy/test": {
    summary: "Evaluate a command with the session's policy, without running it",
    tag: "inbox",
    scope: "read",
    params: sessionParams,
    body: z
      .strictObject({
        command: z.string().min(1).max(100_000),
        cwd: z.string().min(1).max(4096).optional().meta({ description: "Default: the session's folder." }),
      })
      .meta({ id: "TestCommand" }),
    status: 200,
    response: policyVerdict,
    problems: ofSession,
  },
  "GET /events": {
    summary:
      "One stream for a client: summaries of all sessions, the inbox, and all events of watched sessions",
    description:
      "The ID of each message is a cursor for the whole stream. If a client changes `watch` when it reconnects with the cursor, the sessions that are still watched continue without skipped or repeated events. A newly watched session starts with new events, or after the number in `watch`.",
    tag: "history",
    scope: "read",
    query: z.strictObject({
      watch: z
        .string()
        .max(8192)
        .optional()
        .meta({ description: "Sessions whose events are sent, separated by commas: `id` or `id:after`." }),
      cursor: cursor.optional().meta({ description: "Default: `Last-Event-ID`." }),
    }),
    status: 200,
    contentType: "text/event-stream",
    stream: streamFrame,
    problems: ["invalid_cursor", "too_many_connections"],
  },
} as const satisfies Record<string, Route>;
