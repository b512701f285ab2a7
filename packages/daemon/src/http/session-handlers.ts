import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import type { CommandBody, CommandKind } from "../api/command.ts";
import type { Route } from "../api/route.ts";
import { type CreateSession, sessionSettings, sessionSetup } from "../api/settings.ts";
import type { InsertOptions, NewSession } from "../session-store/session-store.ts";
import type { CommandRow, SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { checkFolder } from "./check-folder.ts";
import type { HandlerRequest, Handlers, HttpServices } from "./handler.ts";
import { needsOf, pinnedNode } from "../session-store/needs.ts";
import { locateSession, machineAway, nodeUnavailable } from "../fleet/locate-session.ts";
import { checkTools } from "../webhooks/check-tools.ts";
import { viewCommand, viewSession } from "../views.ts";

type CommandRequest = Pick<HandlerRequest<Route>, "identity" | "signal" | "context"> & {
  readonly params: { readonly sessionId: string };
  readonly query: { readonly wait?: number | undefined };
};

type SubmitOptions = Pick<InsertOptions, "maxSessions" | "maxWaiting" | "check">;

/** Delay after which a client should retry a request that another node, or the next start of this one, may accept. */
const RETRY_SECONDS = 5;

/** Creates the function that submits commands and waits for their outcomes. */
export function createSubmitter(services: HttpServices) {
  const { runner, limits } = services;
  const { commands, fleet } = services.database;

  const isDraining = (): boolean => runner.status.state === "draining" || runner.status.state === "closed";
  const hasOthers = async (): Promise<boolean> => fleet.hasOthers(runner.status.nodeId);

  /** For requests that only this node can handle. */
  async function refuseWhileDraining(): Promise<void> {
    if (isDraining()) throw notAccepting({ hasOthers: await hasOthers() });
  }

  /** For requests that any node can handle. A daemon without other nodes rejects them while it is draining. */
  async function requireAcceptingNode(): Promise<void> {
    if (isDraining() && !(await hasOthers())) throw notAccepting({ hasOthers: false });
  }

  function notAccepting(others: { readonly hasOthers: boolean }): DaemonError {
    const canRetry = { details: { retryAfter: RETRY_SECONDS } };
    if (services.isClosing()) {
      const message = "The daemon is shutting down and does not accept commands. Try again later.";
      return new DaemonError("draining", message, canRetry);
    }
    const message = `The node ${JSON.stringify(services.nodeName)} is drained and accepts no commands.`;
    // The next attempt may reach another node. Without one, it would fail again until someone restarts this node.
    return others.hasOthers
      ? new DaemonError("draining", `${message} Restart it, or send the request to another node.`, canRetry)
      : new DaemonError("draining", `${message} Restart it to use it again.`);
  }

  async function waitFor(
    row: CommandRow,
    wait: number | undefined,
    signal: AbortSignal,
  ): Promise<CommandRow> {
    if (!wait || row.result !== null) return row;
    const timeoutMs = Math.min(wait, limits.waitMs);
    try {
      return await commands.wait(row.id, { timeoutMs, signal: AbortSignal.any([signal, services.closing]) });
    } catch (error) {
      // The command is stored. The client gets its outcome from another node, or after the next start.
      if (!services.closing.aborted || signal.aborted) throw error;
      return (await commands.get(row.id)) ?? row;
    }
  }

  async function submit<Kind extends CommandKind>(
    request: CommandRequest,
    kind: Kind,
    body: CommandBody<Kind>,
    options?: SubmitOptions,
  ) {
    await requireAcceptingNode();
    const { sessionId } = request.params;
    const key = idempotencyKey(request.context);
    const { command } = await commands.submit(
      { sessionId, key, kind, body, by: request.identity.id },
      options,
    );
    return viewCommand(await waitFor(command, request.query.wait, request.signal));
  }

  return { refuseWhileDraining, requireAcceptingNode, waitFor, submit };
}

export function createSessionHandlers(services: HttpServices) {
  const { database, files, limits } = services;
  const { sessions, commands, fleet } = database;
  const { refuseWhileDraining, requireAcceptingNode, waitFor, submit } = createSubmitter(services);

  /** Creates a handler that submits the body as a command. */
  function submitBody<Kind extends CommandKind>(kind: Kind, options?: SubmitOptions) {
    return async (request: CommandRequest & { readonly body?: CommandBody<Kind> | undefined }) =>
      submit(request, kind, request.body ?? ({} as CommandBody<Kind>), options);
  }
  /** For commands that give the model or a program work. The others end work or complete immediately. */
  const isWork: SubmitOptions = { maxWaiting: limits.waitingSessions };

  return {
    "POST /sessions": async ({ body, query, identity, context, signal, forward }) => {
      const { node } = body;
      if (node !== undefined && node !== services.nodeName) {
        const other = await fleet.findAlive(node);
        if (!other) throw nodeUnavailable(node);
        return forward(other);
      }
      const by = identity.id;
      const key = idempotencyKey(context);
      // Checked first, because the folder of a repeated request may be on another node or deleted.
      const { session, command } =
        (await sessions.findCreated({ by, key, request: body })) ??
        (await create(body, { by, key, tenantId: identity.tenant }));
      const finished = await waitFor(command, query.wait, signal);
      const current = finished === command ? session : ((await sessions.get(session.id)) ?? session);
      return { session: viewSession(current), command: viewCommand(finished) };
    },
    "GET /sessions": async ({ query: { search, archived, phase, cursor, limit } }) => {
      const { rows, nextCursor } = await sessions.list({
        ...(search !== undefined && { search }),
        ...(archived !== undefined && { archived }),
        ...(phase !== undefined && { phase }),
        ...(cursor !== undefined && { cursor }),
        limit,
      });
      return { data: rows.map(viewSession), next: nextCursor ?? null };
    },
    "GET /sessions/{sessionId}": async ({ params }) => viewSession(await sessions.require(params.sessionId)),
    "DELETE /sessions/{sessionId}": submitBody("delete"),
    "POST /sessions/{sessionId}/messages": async (request) => {
      const { sessionId } = request.params;
      const { input } = request.body;
      if (typeof input !== "string" && input.some(({ type }) => type === "uploadedImage")) {
        const location = await locateSession(await sessions.require(sessionId), services);
        if (location.where === "node") return request.forward(location.node);
        if (location.where === "away") throw machineAway(location.name, database.store.kind);
        await files.requireImages(sessionId, input);
      }
      return submit(request, "message", request.body, isWork);
    },
    "DELETE /sessions/{sessionId}/messages/{commandId}": async (request) =>
      submit(request, "unqueue", { commandId: request.params.commandId }),
    "POST /sessions/{sessionId}/interrupt": submitBody("interrupt"),
    "POST /sessions/{sessionId}/park": submitBody("park"),
    // Checked before the command is stored, because it would be too late after Codex has copied the thread.
    "POST /sessions/{sessionId}/fork": async (request) =>
      submit(request, "fork", request.body, { ...isWork, maxSessions: limits.sessions }),
    "POST /sessions/{sessionId}/revert": submitBody("revert"),
    "POST /sessions/{sessionId}/compact": submitBody("compact", isWork),
    "POST /sessions/{sessionId}/review": submitBody("review", isWork),
    "POST /sessions/{sessionId}/shell": submitBody("shell", isWork),
    "PATCH /sessions/{sessionId}/settings": async (request) =>
      submit(request, "settings", request.body, { check: () => checkDeadline(request.body.deadline) }),
    "PUT /sessions/{sessionId}/name": submitBody("rename"),
    "PUT /sessions/{sessionId}/goal": submitBody("goal"),
    "POST /sessions/{sessionId}/archive": submitBody("archive"),
    "POST /sessions/{sessionId}/unarchive": submitBody("unarchive"),
    "GET /sessions/{sessionId}/commands": async ({ params }) => {
      await sessions.require(params.sessionId);
      return { data: (await commands.unfinished(params.sessionId)).map(viewCommand) };
    },
    "GET /sessions/{sessionId}/commands/{commandId}": async ({ params, query, signal }) => {
      const row = await commands.get(params.commandId);
      if (row?.session_id !== params.sessionId) {
        throw new DaemonError("not_found", `The session has no command "${params.commandId}".`);
      }
      return viewCommand(await waitFor(row, query.wait, signal));
    },
  } satisfies Partial<Handlers>;

  async function create(
    body: CreateSession,
    { by, key, tenantId }: { readonly by: string; readonly key: string; readonly tenantId: string },
  ): Promise<{ readonly session: SessionRow; readonly command: CommandRow }> {
    const { cwd: folder, name, priority, labels, node, ...rest } = body;
    const setup = sessionSetup.strip().parse(rest);
    await checkTools(setup.tools ?? [], services.webhooks);
    const isRemote = setup.environment !== undefined;
    const cwd = isRemote ? checkAbsolute(folder) : await checkFolder(folder, services.roots);
    const needs = needsOf({ cwd, isRemote, node, labels }, services);
    if (pinnedNode(needs) === undefined) await requireAcceptingNode();
    else await refuseWhileDraining();
    const created: NewSession = {
      cwd,
      ...(name !== undefined && { name }),
      ...(priority !== undefined && { priority }),
      settings: sessionSettings.strip().parse({ ...services.defaults, ...rest }),
      setup,
      needs,
      tenantId,
      by,
      key,
      request: body,
    };
    const { session, command } = await sessions.insert(created, {
      maxSessions: limits.sessions,
      maxWaiting: limits.waitingSessions,
      check: () => checkDeadline(rest.deadline),
    });
    if (!command) throw new Error("The new session was stored without its command.");
    return { session, command };
  }
}

function checkDeadline(deadline: number | null | undefined): void {
  if (deadline === undefined || deadline === null || deadline > Date.now()) return;
  const message = `The deadline ${new Date(deadline).toISOString()} is in the past.`;
  throw new DaemonError("bad_request", message, {
    details: { errors: [{ path: "body.deadline", message }] },
  });
}

function checkAbsolute(folder: string): string {
  if (folder.startsWith("/") || /^[A-Za-z]:[\\/]/.test(folder)) return folder;
  throw new DaemonError("path_not_allowed", `"${folder}" is not an absolute path.`);
}

export function idempotencyKey(context: Context): string {
  const key = context.req.header("idempotency-key");
  if (key === undefined) return randomUUID();
  if (/^[\x21-\x7e]{1,256}$/.test(key)) return key;
  throw new DaemonError("bad_request", "Idempotency-Key must be 1 to 256 printable ASCII characters.");
}
