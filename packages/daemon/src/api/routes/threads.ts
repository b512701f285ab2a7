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

/** The settings of a session, except those that an existing thread already has or can't be given. */
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
      "Threads in the user's Codex home whose folder is inside the roots. A search covers names, folders and messages. It is done in parts, so a page can be empty although there is a next page.",
    tag: "threads",
    scope: "read",
    query: z.strictObject({
      search: plainText(256)
        .optional()
        .meta({ description: "Text in the name, folder or messages. Case is ignored." }),
      cwd: plainText(4096).optional().meta({ description: "Only threads of exactly this folder." }),
      source: threadSource
        .optional()
        .meta({ description: "Default: all sources except subAgent, the threads of a thread's agents." }),
      archived: booleanParameter().default(false).meta({ description: "List archived threads instead." }),
      cursor: cursor.optional(),
      limit: pageLimit,
    }),
    status: 200,
    response: cliThreadPage,
    problems: ["threads_unavailable", "invalid_cursor"],
  },
  "GET /threads/{threadId}": {
    summary: "Read a thread's metadata, and which program has it open",
    tag: "threads",
    scope: "read",
    params: threadParams,
    status: 200,
    response: cliThreadDetails,
    problems: ofThread,
  },
  "GET /threads/{threadId}/items": {
    summary: "Read the items of a thread, newest first",
    description: "Includes the items of the threads that it was forked from. A page ends after 4 MiB.",
    tag: "threads",
    scope: "read",
    params: threadParams,
    query: z.strictObject({ cursor: cursor.optional(), limit: pageLimit }),
    status: 200,
    response: cliThreadItemPage,
    problems: [...ofThread, "invalid_cursor"],
  },
  "GET /threads/{threadId}/events": {
    summary: "Follow a thread, even while another program uses it",
    description:
      "Sends the history, then `following`, then new events. Read-only: the thread is not opened. Codex writes an item when it is complete, so there are no deltas. The ID of a message is its cursor: continue with `Last-Event-ID` or `?after=`.",
    tag: "threads",
    scope: "read",
    params: threadParams,
    query: z.strictObject({
      after: cursor.optional().meta({ description: "ID of the last message that the client has received." }),
    }),
    status: 200,
    contentType: "text/event-stream",
    stream: threadFrame,
    problems: [...ofThread, "invalid_cursor", "too_many_connections"],
  },
  "POST /threads/{threadId}/import": {
    summary: "Continue a thread of the Codex CLI as a session",
    description:
      "The thread is copied, and the original is not changed. Continue it in only one place. The history is added to the journal as `recovered` events.",
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
    description: "Possible at any time, even while another program has the thread open.",
    tag: "threads",
    scope: "write",
    params: threadParams,
    query: waitQuery,
    body: newSession
      .extend({
        lastTurnId: identifier
          .optional()
          .meta({ description: "The last turn to copy. Default: the newest turn that has ended." }),
      })
      .meta({ id: "ForkThread" }),
    idempotencyKey: true,
    status: 202,
    response: createdSession,
    problems: [...created, "turn_running", "unprocessable"],
  },
} as const satisfies Record<string, Route>;
