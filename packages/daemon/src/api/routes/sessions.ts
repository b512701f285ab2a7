import { z } from "zod";
import { commandBodies } from "../command.ts";
import { page } from "../history.ts";
import { booleanParameter, cursor, identifier, pageLimit, plainText, waitQuery } from "../parameters.ts";
import type { ProblemType } from "../problem.ts";
import type { Route } from "../route.ts";
import { command, session, sessionPhase } from "../session.ts";
import { createSession } from "../settings.ts";

export const sessionParams = z.strictObject({ sessionId: identifier });
export const ofSession = ["session_not_found", "session_deleted"] as const satisfies readonly ProblemType[];

const commandProblems = [...ofSession, "key_reused", "too_many_waiting", "draining", "store_full"] as const;

export const createdSession = z
  .object({ command, session })
  .meta({ id: "CreatedSession", description: "The new session and the command that starts it." });

/**
 * Every mutation of a session is a command: it is stored, acknowledged with 202 and executed by the session's owner.
 */
function commandRoute<Body extends z.ZodType | undefined>(summary: string, body: Body) {
  return {
    summary,
    tag: "commands",
    scope: "write",
    params: sessionParams,
    query: waitQuery,
    body,
    idempotencyKey: true,
    status: 202,
    response: command,
    problems: commandProblems,
  } as const;
}

export const sessionRoutes = {
  "POST /sessions": {
    summary: "Create a session",
    description:
      "The folder must be absolute, exist and be inside the allowed roots. With an execution environment, it is a folder in that environment.",
    tag: "sessions",
    scope: "write",
    query: waitQuery,
    body: createSession,
    idempotencyKey: true,
    status: 202,
    response: createdSession,
    problems: [
      "path_not_allowed",
      "key_reused",
      "too_many_sessions",
      "too_many_waiting",
      "node_unavailable",
      "draining",
      "store_full",
    ],
  },
  "GET /sessions": {
    summary: "List and search sessions",
    description: "The most recently changed sessions come first.",
    tag: "sessions",
    scope: "read",
    query: z.strictObject({
      search: plainText(256).optional().meta({ description: "Text in the name, folder or preview." }),
      archived: booleanParameter().optional().meta({ description: "Default: false." }),
      phase: sessionPhase.optional(),
      cursor: cursor.optional(),
      limit: pageLimit,
    }),
    status: 200,
    response: page("SessionPage", session),
    problems: ["invalid_cursor"],
  },
  "GET /sessions/{sessionId}": {
    summary: "Read a session, with its goal and usage",
    tag: "sessions",
    scope: "read",
    params: sessionParams,
    status: 200,
    response: session,
    problems: ofSession,
  },
  "DELETE /sessions/{sessionId}": commandRoute(
    "Delete a session and its history. A running turn is interrupted.",
    undefined,
  ),
  "POST /sessions/{sessionId}/messages": {
    ...commandRoute("Send a message", commandBodies.message),
    problems: [...commandProblems, "not_found", "body_too_large", "node_unavailable"],
  },
  "DELETE /sessions/{sessionId}/messages/{commandId}": {
    ...commandRoute("Remove a message that has not been sent to Codex yet", undefined),
    params: z.strictObject({ sessionId: identifier, commandId: identifier }),
  },
  "POST /sessions/{sessionId}/interrupt": commandRoute("Interrupt the running turn", undefined),
  "POST /sessions/{sessionId}/park": commandRoute(
    "Park the requests that wait for an answer: no process waits for them, and answers are delivered when they arrive",
    undefined,
  ),
  "POST /sessions/{sessionId}/fork": {
    ...commandRoute("Fork the session. The result has the ID of the new session.", commandBodies.fork),
    problems: [...commandProblems, "too_many_sessions"],
  },
  "POST /sessions/{sessionId}/revert": commandRoute(
    "Remove a turn and all later ones from the history. Files are not changed.",
    commandBodies.revert,
  ),
  "POST /sessions/{sessionId}/compact": commandRoute("Compact the context", undefined),
  "POST /sessions/{sessionId}/review": commandRoute("Start a review", commandBodies.review),
  "POST /sessions/{sessionId}/shell": commandRoute(
    "Run a command of the user, outside the sandbox",
    commandBodies.shell,
  ),
  "PATCH /sessions/{sessionId}/settings": commandRoute("Change settings", commandBodies.settings),
  "PUT /sessions/{sessionId}/name": commandRoute("Rename the session", commandBodies.rename),
  "PUT /sessions/{sessionId}/goal": commandRoute("Set or remove the goal", commandBodies.goal),
  "POST /sessions/{sessionId}/archive": commandRoute("Archive the session", undefined),
  "POST /sessions/{sessionId}/unarchive": commandRoute("Restore an archived session", undefined),
  "GET /sessions/{sessionId}/commands": {
    summary: "List unfinished commands, such as queued messages, in order",
    tag: "commands",
    scope: "read",
    params: sessionParams,
    status: 200,
    response: z.object({ data: z.array(command) }).meta({ id: "CommandList" }),
    problems: ofSession,
  },
  "GET /sessions/{sessionId}/commands/{commandId}": {
    summary: "Read a command or wait for its outcome",
    tag: "commands",
    scope: "read",
    params: z.strictObject({ sessionId: identifier, commandId: identifier }),
    query: waitQuery,
    status: 200,
    response: command,
    problems: [...ofSession, "not_found"],
  },
} as const satisfies Record<string, Route>;
