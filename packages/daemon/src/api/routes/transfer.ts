import { z } from "zod";
import { debugBundle } from "../debug.ts";
import { booleanParameter, plainText } from "../parameters.ts";
import type { Route } from "../route.ts";
import { session } from "../session.ts";
import { permissionMode } from "../settings.ts";
import { ofSession, sessionParams } from "./sessions.ts";

const leftOut = z
  .object({
    mcpServers: z.array(z.string()).readonly(),
    permissionMode: permissionMode
      .nullable()
      .meta({ description: "The mode of the file, if it was lowered." }),
    answers: z.int().meta({ description: "Parked approvals that have to be answered again." }),
  })
  .meta({ id: "LeftOut", description: "What was not taken over, because the file is not trusted." });

export const transferRoutes = {
  "GET /sessions/{sessionId}/export": {
    summary: "Export a session as one file",
    description:
      "JSON Lines with the journal, the thread's files, settings and approvals. Tokens, MCP servers with environment variables, headers, or a query, user or password in their URL, and tools by webhook are left out. What the model received is included: it is the thread.",
    tag: "transfer",
    scope: "admin",
    params: sessionParams,
    status: 200,
    contentType: "application/jsonl",
    problems: [...ofSession, "turn_running"],
  },
  "GET /sessions/{sessionId}/debug": {
    summary: "Read everything that explains the state of a session, without secrets",
    description:
      "One JSON document: configuration, versions, standard error of codex, the newest events, commands and approvals, the environment, and the state of store and nodes. Known secrets and what looks like one are replaced by `[redacted]`; the conversation is not removed. Needs no codex, so that it is available after a crash.",
    tag: "operation",
    scope: "admin",
    params: sessionParams,
    // It has the standard error of codex.
    machine: "preferred",
    status: 200,
    response: debugBundle,
    problems: ofSession,
  },
  "POST /sessions/import": {
    summary: "Import an exported session, to continue its thread here",
    description: "The body is an exported file. It is imported as a whole or not at all.",
    tag: "transfer",
    scope: "admin",
    query: z.strictObject({
      cwd: plainText(4096).optional().meta({ description: "Default: the folder that it had." }),
      name: plainText(256).optional(),
      permissionMode: permissionMode
        .optional()
        .meta({ description: "Default: the one that it had, without `trust` at most workspace-write." }),
      trust: booleanParameter().default(false).meta({
        description:
          "Whether what would run programs here is taken over too: MCP servers with a command or a variable of the daemon, a mode without a sandbox, and answers of parked approvals. The file is code then.",
      }),
    }),
    bytes: true,
    status: 201,
    response: z.object({ session, leftOut }).meta({ id: "ImportedSession" }),
    problems: [
      "path_not_allowed",
      "thread_in_use",
      "unprocessable",
      "body_too_large",
      "too_many_sessions",
      "draining",
      "disk_full",
      "store_full",
    ],
  },
} as const satisfies Record<string, Route>;
