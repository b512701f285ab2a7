import type { threadRoutes } from "../api/routes/threads.ts";
import { type CreateSession, sessionSettings, sessionSetup } from "../api/settings.ts";
import type { ThreadFrame } from "../api/thread.ts";
import { DaemonError } from "../errors.ts";
import type { CliThreads } from "../threads/cli-threads.ts";
import { type FollowedFrame, followThread } from "../threads/follow-thread.ts";
import { needsOf } from "../session-store/needs.ts";
import { importThread } from "../threads/import-thread.ts";
import { viewCommand, viewSession } from "../views.ts";
import { checkFolder } from "./check-folder.ts";
import { eventStreamResponse } from "./event-stream.ts";
import type { HandlerRequest, Handlers, HttpServices } from "./handler.ts";
import { openStream } from "./open-stream.ts";
import { createSubmitter, idempotencyKey } from "./session-handlers.ts";
import type { StreamCounter } from "./stream-counter.ts";

type NewSession = Omit<CreateSession, "cwd" | "environment" | "tools" | "node">;

export function createThreadHandlers(
  services: HttpServices,
  streams: StreamCounter,
): Handlers<keyof typeof threadRoutes> {
  const { database, limits, roots, nodeName, defaults } = services;
  const { refuseWhileDraining, waitFor } = createSubmitter(services);
  return {
    "GET /threads": async ({ query, signal }) => requireThreads().list({ ...query, signal }),
    "GET /threads/{threadId}": async ({ params }) => requireThreads().get(params.threadId),
    "GET /threads/{threadId}/items": async ({ params, query }) =>
      requireThreads().items(params.threadId, query),
    "GET /threads/{threadId}/events": async ({ params, query, identity, signal, context }) => {
      const after = query.after ?? (context.req.header("last-event-id") || undefined);
      const threads = requireThreads();
      const stream = openStream(services, streams, { kind: "threads", identity, signal });
      try {
        const frames = followThread(threads, params.threadId, { after, signal: stream.signal });
        // Reads the first frame while a problem can still be sent.
        const first = await frames.next();
        const onEnd = (): void => {
          stream.onEnd();
          // The response may end before it has started to read.
          void frames.return(undefined).catch(() => {});
        };
        return eventStreamResponse(encodeFrames(first, frames), { ...stream, onEnd });
      } catch (error) {
        stream.onEnd();
        throw error;
      }
    },
    "POST /threads/{threadId}/import": async (request) => create(request, { as: "import" }),
    "POST /threads/{threadId}/fork": async (request) => {
      const { lastTurnId, ...body } = request.body;
      return create({ ...request, body }, { as: "fork", lastTurnId });
    },
  };

  function requireThreads(): CliThreads {
    if (services.threads) return services.threads;
    throw new DaemonError("threads_unavailable", "This daemon does not serve threads of the Codex CLI.");
  }

  async function create(
    {
      params,
      body,
      query,
      identity,
      context,
      signal,
    }: Pick<HandlerRequest<(typeof threadRoutes)["POST /threads/{threadId}/import"]>, "params" | "query"> &
      Pick<HandlerRequest<never>, "identity" | "context" | "signal"> & { readonly body: NewSession },
    how: { readonly as: "import" | "fork"; readonly lastTurnId?: string | undefined },
  ) {
    await refuseWhileDraining();
    const { name, priority = 0, ...rest } = body;
    const { session, command } = await importThread(database, requireThreads(), {
      ...how,
      threadId: params.threadId,
      name,
      priority,
      settings: sessionSettings.strip().parse({ ...defaults, ...rest }),
      setup: sessionSetup.strip().parse(rest),
      needs: (cwd) => needsOf({ cwd, isRemote: false }, services),
      tenantId: identity.tenant,
      nodeName,
      maxSessions: limits.sessions,
      by: identity.id,
      key: idempotencyKey(context),
      checkFolder: async (folder) => checkFolder(folder, roots),
    });
    const finished = await waitFor(command, query.wait, signal);
    const current = finished === command ? session : ((await database.sessions.get(session.id)) ?? session);
    return { session: viewSession(current), command: viewCommand(finished) };
  }
}

const encoder = new TextEncoder();

async function* encodeFrames(
  first: IteratorResult<FollowedFrame>,
  rest: AsyncGenerator<FollowedFrame>,
): AsyncGenerator<Uint8Array> {
  if (first.done === true) return;
  yield encode(first.value);
  for await (const frame of rest) yield encode(frame);
}

function encode({ cursor, frame }: FollowedFrame): Uint8Array {
  const id = cursor === "" ? "" : `id: ${cursor}\n`;
  return encoder.encode(`${id}data: ${encodeFrame(frame)}\n\n`);
}

function encodeFrame(frame: ThreadFrame): string {
  try {
    return JSON.stringify(frame);
  } catch {
    // A value that is nested too deeply can be parsed but not serialised.
    return JSON.stringify({ type: "skipped", lines: 1 } satisfies ThreadFrame);
  }
}
