import { type DaemonClient, DaemonClientError, type Session } from "@codexkit/daemon/client";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { checkId, checkIdPrefix } from "../options/check-id.ts";
import { revealLine } from "../terminal/sanitize.ts";
import { MAX_PAGE } from "../daemon/connect-daemon.ts";

/** Maximum number of sessions that are searched for an ID prefix or a name. */
const SEARCHED = MAX_PAGE;

/**
 * Finds a session by its ID, the beginning of its ID, or its name. Rejects if none or more than one matches.
 */
export async function findSession(client: DaemonClient, text: string, signal: AbortSignal): Promise<Session> {
  checkId(text, "session");
  const isId = /^[\x21-\x7E]{1,256}$/.test(text);
  if (isId) {
    try {
      return await client.request("GET /sessions/{sessionId}", { params: { sessionId: text }, signal });
    } catch (error) {
      if (!DaemonClientError.is(error) || error.code !== "session_not_found") throw error;
    }
  }
  const { data } = await client.request("GET /sessions", { query: { limit: SEARCHED }, signal });
  const named = data.filter(({ name }) => name === text);
  if (named.length === 0) checkIdPrefix(text, "a session");
  const found = named.length > 0 ? named : data.filter(({ id }) => id.startsWith(text));
  const [session, ...others] = found;
  if (!session) {
    throw new CliError(EXIT.failed, `There is no session "${revealLine(text)}".`, {
      hint: "Run `codexkit sessions` to see the daemon's sessions.",
    });
  }
  if (others.length > 0) {
    throw new CliError(EXIT.failed, `${found.length} sessions match "${revealLine(text)}".`, {
      hint: `Name one by its ID: ${found
        .slice(0, 5)
        .map(({ id }) => id)
        .join(", ")}.`,
    });
  }
  return session;
}
