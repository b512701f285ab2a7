import { z } from "zod";
import { debugBundle } from "../debug.ts";
import { booleanParameter, plainText } from "../parameters.ts";
import type { Route } from "../route.ts";
import { session } from "../session.ts";
import { permissionMode } from "../settings.ts";
import { ofSession, sessionParams } from "./sessions.ts";

const leftOut = z
  .object({
    mcpServers: z.array(z.string()).readonly().meta({
      description:
        "Names of the omitted MCP servers, including those that the export left out because of their secrets.",
    }),
    tools: z.array(z.string()).readonly().meta({
      description:
        "Names of the omitted tools by webhook, whose URLs would receive parts of the conversation.",
    }),
    environment: z.string().nullable().meta({
      description: "URL of the omitted execution environment. Commands run on this machine instead.",
    }),
    permissionMode: permissionMode
      .nullable()
      .meta({ description: "The permission mode in the file, if it was reduced." }),
    answers: z.int().meta({ description: "Number of parked approvals that have to be answered again." }),
  })
  .meta({ id: "LeftOut", description: "What was not taken over, mostly because the file is not trusted." });

export const transferRoutes = {
  "GET /sessions/{sessionId}/export": {
    summary: "Export a session as one file",
    description:
      "JSON Lines with the journal, the thread's files, settings and approvals. The export leaves out tokens, tools by webhook, and MCP servers with environment variables, headers, secrets in their arguments, or a query, user or password in their URL. Secrets of the setup and answers to secret questions are masked in the journal and in the thread's files. The thread's content that was sent to the model is included.",
    tag: "transfer",
    scope: "admin",
    params: sessionParams,
    status: 200,
    contentType: "application/jsonl",
    problems: [...ofSession, "turn_running", "rollout_too_large"],
  },
  "GET /sessions/{sessionId}/debug": {
    summary: "Read diagnostic information about a session, without secrets",
    description:
      "One JSON document: configuration, versions, Codex's standard error, the newest events, commands and approvals, the environment, and the state of the store and nodes. Known secrets and text that looks like one are replaced by `[redacted]`; the conversation is included. It does not need Codex, so it is available after a crash.",
    tag: "operation",
    scope: "admin",
    params: sessionParams,
    // The session's machine has Codex's standard error.
    machine: "preferred",
    status: 200,
    response: debugBundle,
    problems: ofSession,
  },
  "POST /sessions/import": {
    summary: "Import an exported session and continue its thread here",
    description: "The body is an exported file. It is imported completely or not at all.",
    tag: "transfer",
    scope: "admin",
    query: z.strictObject({
      cwd: plainText(4096).optional().meta({ description: "Default: the session's original folder." }),
      name: plainText(256).optional(),
      permissionMode: permissionMode
        .optional()
        .meta({ description: "Default: the original mode; without `trust`, at most workspace-write." }),
      trust: booleanParameter().default(false).meta({
        description:
          "Whether to import the parts that run programs or open connections: MCP servers, tools by webhook, the execution environment, a mode without a sandbox, and answers of parked approvals. Only trust a file as you would trust code.",
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
