import { z } from "zod";
import { booleanParameter, cursor, identifier, pageLimit, plainText, waitQuery } from "../parameters.ts";
import type { ProblemType } from "../problem.ts";
import type { Route } from "../route.ts";
import { createSession } from "../settings.ts";
import { cliThreadDetails, cliThreadItemPage, cliThreadPage, threadFrame, threadSource } from "../thread.ts";
import { createdSession } from "./sessions.ts";

const threadParams = z.strictObject({
  threadId: z
    .string()
    .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "Expected a UUID in lower case."),
});

const ofThread = [
  "threads_unavailable",
  "thread_not_found",
  "thread_unreadable",
  "path_not_allowed",
] as const satisfies readonly ProblemType[];

const created = [
  ...ofThread,
  "thread_in_use",
  "too_many_sessions",
  "key_reused",
  "draining",
  "store_full",
] as const satisfies readonly ProblemType[];

/** The settings of a session, except what a thread has already or can't get any more. */
const newSession = createSession.omit({
  cwd: true,
  environment: true,
  tools: true,
  labels: true,
  node: true,
});

export const threadRoutes = {
  "GET /threads": {
    summary: "List and search threads of the Codex CLI, newest first",
    description:
      "The threads in the Codex home of the person, whose folder is inside the roots. A search looks into names, folders and messages; it is done in parts, so that a page can be empty and have a next one.",
    tag: "threads",
    scope: "read",
    query: z.strictObject({
      search: plainText(256)
        .optional()
        .meta({ description: "Text in name, folder or messages, in any case." }),
      cwd: plainText(4096).optional().meta({ description: "Threads of exactly this folder." }),
      source: threadSource
        .optional()
        .meta({ description: "Default: all but subAgent, the threads of a thread's agents." }),
      archived: booleanParameter().default(false).meta({ description: "Archived threads instead." }),
      cursor: cursor.optional(),
      limit: pageLimit,
    }),
    status: 200,
    response: cliThreadPage,
    problems: ["threads_unavailable", "invalid_cursor"],
  },
  "GET /threads/{threadId}": {
    summary: "Read what is known of a thread, and which program has it open",
    tag: "threads",
    scope: "read",
    params: threadParams,
    status: 200,
    response: cliThreadDetails,
    problems: ofThread,
  },
  "GET /threads/{threadId}/items": {
    summary: "Read the items of a thread, newest first",
    description: "Also those of the threads that it was forked from. A page ends after 4 MiB.",
    tag: "threads",
    scope: "read",
    params: threadParams,
    query: z.strictObject({ cursor: cursor.optional(), limit: pageLimit }),
    status: 200,
    response: cliThreadItemPage,
    problems: [...ofThread, "invalid_cursor"],
  },
  "GET /threads/{threadId}/events": {
    summary: "Follow a thread, also while another program works on it",
    description:
      "The history, then `following`, then what is new. Read-only: the thread is not opened. Codex writes an item when it is complete, so that there are no deltas. The ID of a message is its cursor: continue with `Last-Event-ID` or `?after=`.",
    tag: "threads",
    scope: "read",
    params: threadParams,
    query: z.strictObject({
      after: cursor.optional().meta({ description: "The ID of the last message that the client has." }),
    }),
    status: 200,
    contentType: "text/event-stream",
    stream: threadFrame,
    problems: [...ofThread, "invalid_cursor", "too_many_connections"],
  },
  "POST /threads/{threadId}/import": {
    summary: "Continue a thread of the Codex CLI as a session",
    description:
      "The thread is copied; the original stays as it is. Continue it in one place only. The history arrives in the journal as `recovered` events.",
    tag: "threads",
    scope: "write",
    params: threadParams,
    query: waitQuery,
    body: newSession.meta({ id: "ImportThread" }),
    idempotencyKey: true,
    status: 202,
    response: createdSession,
    problems: [...created, "writer_locked"],
  },
  "POST /threads/{threadId}/fork": {
    summary: "Fork a thread of the Codex CLI as a session",
    description: "Possible at any time, also while another program has the thread open.",
    tag: "threads",
    scope: "write",
    params: threadParams,
    query: waitQuery,
    body: newSession
      .extend({
        lastTurnId: identifier
          .optional()
          .meta({ description: "The last turn of the copy. Default: the newest one that has ended." }),
      })
      .meta({ id: "ForkThread" }),
    idempotencyKey: true,
    status: 202,
    response: createdSession,
    problems: [...created, "turn_running", "unprocessable"],
  },
} as const satisfies Record<string, Route>;
