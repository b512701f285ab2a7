import type { DaemonClient } from "@codexkit/daemon/client";
import { explainError } from "../settings/explain-error.ts";

/** How long the page waits for the outcome of a command. */
const WAIT = { wait: 10_000 } as const;

export type SessionAction =
  | { readonly type: "rename"; readonly name: string }
  | { readonly type: "archive" | "unarchive" | "delete" };

/** Runs a command on a session. Resolves to a description of the problem, or to undefined. */
export async function changeSession(
  client: DaemonClient,
  sessionId: string,
  action: SessionAction,
): Promise<string | undefined> {
  const args = { params: { sessionId }, query: WAIT };
  try {
    const { problem } = await request(client, args, action);
    return problem?.detail;
  } catch (error) {
    return explainError(error);
  }
}

async function request(
  client: DaemonClient,
  args: { readonly params: { readonly sessionId: string }; readonly query: typeof WAIT },
  action: SessionAction,
) {
  switch (action.type) {
    case "rename":
      return client.request("PUT /sessions/{sessionId}/name", { ...args, body: { name: action.name } });
    case "archive":
      return client.request("POST /sessions/{sessionId}/archive", args);
    case "unarchive":
      return client.request("POST /sessions/{sessionId}/unarchive", args);
    case "delete":
      return client.request("DELETE /sessions/{sessionId}", args);
  }
}
