import type { terminalRoutes } from "../api/routes/terminals.ts";
import { DaemonError } from "../errors.ts";
import type { Handlers, HttpServices } from "./handler.ts";
import { createSubmitter } from "./session-handlers.ts";
import { upgradeOf } from "./upgrade.ts";

export function createTerminalHandlers({
  terminals,
  ...services
}: HttpServices): Handlers<keyof typeof terminalRoutes> {
  const { sessions, audit } = services.database;
  const { refuseWhileDraining } = createSubmitter({ ...services, terminals });
  const find = async ({ sessionId, terminalId }: { sessionId: string; terminalId: string }) => {
    await sessions.require(sessionId);
    return terminals.require(sessionId, terminalId);
  };
  return {
    "POST /sessions/{sessionId}/terminals": async ({ params: { sessionId }, body, identity }) => {
      await refuseWhileDraining();
      const terminal = await terminals.create(await sessions.require(sessionId), body, identity.id);
      const { id: subject, summary } = terminal;
      const detail = { command: summary.command };
      await audit.record({ by: identity.id, action: "terminal.created", sessionId, subject, detail });
      return summary;
    },
    "GET /sessions/{sessionId}/terminals": async ({ params: { sessionId } }) => {
      await sessions.require(sessionId);
      return { data: terminals.list(sessionId).map(({ summary }) => summary) };
    },
    "GET /sessions/{sessionId}/terminals/{terminalId}": async ({ params }) => (await find(params)).summary,
    "DELETE /sessions/{sessionId}/terminals/{terminalId}": async ({ params }) => {
      await terminals.remove(await find(params));
      return undefined;
    },
    "GET /sessions/{sessionId}/terminals/{terminalId}/screen": async ({ params }) =>
      (await find(params)).snapshot(),
    "GET /sessions/{sessionId}/terminals/{terminalId}/attach": async ({
      params,
      query,
      identity,
      context,
    }) => {
      const terminal = await find(params);
      const upgrade = upgradeOf(context);
      if (!upgrade) {
        throw new DaemonError("upgrade_required", "Use a WebSocket to attach to a terminal.");
      }
      upgrade.terminal = terminal;
      upgrade.canWrite = identity.scopes.includes("write");
      upgrade.after = query.after;
      if (services.auth === "tokens") {
        upgrade.watchToken = (onEnd) => services.database.tokens.watch(identity.id, onEnd);
      }
      // This response is never sent: the connection becomes a WebSocket.
      return new Response(null, { status: 204 });
    },
  };
}
