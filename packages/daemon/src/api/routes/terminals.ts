import { z } from "zod";
import { identifier, integerParameter } from "../parameters.ts";
import type { Route } from "../route.ts";
import { createTerminal, terminal, terminalFrame, terminalMessage, terminalScreen } from "../terminal.ts";
import { ofSession, sessionParams } from "./sessions.ts";

const terminalParams = z.strictObject({ sessionId: identifier, terminalId: identifier });

export const terminalRoutes = {
  "POST /sessions/{sessionId}/terminals": {
    summary: "Open a terminal on the session's machine, outside the sandbox",
    description:
      "The terminal ends with its session or the daemon. It is not a command and does not survive a restart.",
    tag: "terminals",
    scope: "write",
    params: sessionParams,
    machine: "required",
    body: createTerminal,
    status: 201,
    response: terminal,
    problems: [
      ...ofSession,
      "files_unavailable",
      "file_not_found",
      "wrong_file_type",
      "too_many_terminals",
      "unprocessable",
      "draining",
    ],
  },
  "GET /sessions/{sessionId}/terminals": {
    summary: "List the terminals of a session",
    tag: "terminals",
    scope: "read",
    params: sessionParams,
    machine: "required",
    status: 200,
    response: z.object({ data: z.array(terminal) }).meta({ id: "TerminalList" }),
    problems: ofSession,
  },
  "GET /sessions/{sessionId}/terminals/{terminalId}": {
    summary: "Read the state of a terminal",
    tag: "terminals",
    scope: "read",
    params: terminalParams,
    machine: "required",
    status: 200,
    response: terminal,
    problems: [...ofSession, "not_found"],
  },
  "DELETE /sessions/{sessionId}/terminals/{terminalId}": {
    summary: "End a terminal and all its processes",
    tag: "terminals",
    scope: "write",
    params: terminalParams,
    machine: "required",
    status: 204,
    problems: [...ofSession, "not_found"],
  },
  "GET /sessions/{sessionId}/terminals/{terminalId}/screen": {
    summary: "Read the screen of a terminal",
    tag: "terminals",
    scope: "read",
    params: terminalParams,
    machine: "required",
    status: 200,
    response: terminalScreen,
    problems: [...ofSession, "not_found"],
  },
  "GET /sessions/{sessionId}/terminals/{terminalId}/attach": {
    summary: "Attach to a terminal over a WebSocket",
    description:
      "Sends `attached`, then the screen, then output with offsets. Input requires the scope `write`, and only one viewer at a time can send it.",
    tag: "terminals",
    scope: "read",
    params: terminalParams,
    machine: "required",
    query: z.strictObject({
      after: integerParameter(0).optional().meta({
        description:
          "Offset up to which the viewer has the output. If the output after it is still available, no screen is sent.",
      }),
    }),
    status: 101,
    socket: { sends: terminalFrame, receives: terminalMessage },
    problems: [...ofSession, "not_found", "upgrade_required", "too_many_connections"],
  },
} as const satisfies Record<string, Route>;
