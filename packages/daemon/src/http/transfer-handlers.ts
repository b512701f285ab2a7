import { SerialQueue } from "@codexkit/rpc/async";
import type { transferRoutes } from "../api/routes/transfer.ts";
import { createDebugBundle } from "../debug/debug-bundle.ts";
import { DaemonError } from "../errors.ts";
import { needsOf } from "../session-store/needs.ts";
import { exportSession } from "../transfer/export-session.ts";
import { importSession } from "../transfer/import-session.ts";
import { LINE_BYTES, readSessionFile } from "../transfer/read-session-file.ts";
import type { SessionFileLine } from "../transfer/session-file.ts";
import { viewSession } from "../views.ts";
import { checkTools } from "../webhooks/check-tools.ts";
import { checkFolder } from "./check-folder.ts";
import type { Handlers, HttpServices } from "./handler.ts";
import { limitBody } from "./limit-body.ts";
import { createSubmitter } from "./session-handlers.ts";

export function createTransferHandlers(services: HttpServices): Handlers<keyof typeof transferRoutes> {
  const { database, files, limits, roots, nodeName } = services;
  const { refuseWhileDraining } = createSubmitter(services);
  // Two files may share a base, which must not be compared while another import is storing it.
  const imports = new SerialQueue();
  return {
    "GET /sessions/{sessionId}/export": async ({ params: { sessionId } }) => {
      const lines = await exportSession(database, sessionId);
      return new Response(ReadableStream.from(toBytes(lines)), {
        headers: {
          "content-type": "application/jsonl",
          "content-disposition": `attachment; filename="${sessionId}.jsonl"`,
          "cache-control": "no-store",
        },
      });
    },
    "GET /sessions/{sessionId}/debug": async ({ params: { sessionId } }) => {
      const { runner, version, debug: sources } = services;
      return createDebugBundle(sessionId, { database, runner, sources, version, nodeName });
    },
    "POST /sessions/import": async ({ query: { cwd, name, trust, permissionMode }, context, identity }) => {
      await refuseWhileDraining();
      // The body is stored on disk first, so that a slow client does not keep a transaction open.
      await using file = await limitBody(context, "the import", limits.importBytes, (body) =>
        files.staging.spool(body, limits.importBytes),
      );
      await using lines = readSessionFile(file.path, LINE_BYTES);
      const first = await firstLine(lines);
      const { setup, cwd: formerCwd } = first.session;
      // An import without trust has no tools and no environment.
      if (trust) await checkTools(setup.tools ?? [], services.webhooks);
      const isRemote = trust && setup.environment !== undefined;
      const folder = isRemote ? (cwd ?? formerCwd) : await checkFolder(cwd ?? formerCwd, roots);
      const options = {
        cwd: folder,
        needs: needsOf({ cwd: folder, isRemote }, services),
        tenantId: identity.tenant,
        nodeName,
        maxSessions: limits.sessions,
        ...(name !== undefined && { name }),
        ...(permissionMode && { permissionMode }),
        isTrusted: trust,
        by: identity.id,
      };
      const { session, leftOut } = await imports.run(async () =>
        importSession(database, prepend(first, lines), options),
      );
      return { session: viewSession(session), leftOut };
    },
  };
}

async function firstLine(lines: AsyncGenerator<SessionFileLine>) {
  const { value } = await lines.next();
  if (value?.kind === "session") return value;
  throw new DaemonError("unprocessable", "The body is not an exported session.");
}

async function* prepend(
  first: SessionFileLine,
  rest: AsyncIterable<SessionFileLine>,
): AsyncGenerator<SessionFileLine> {
  yield first;
  yield* rest;
}

async function* toBytes(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const line of lines) yield encoder.encode(line);
}
