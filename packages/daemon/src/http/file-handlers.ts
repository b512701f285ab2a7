import type { Context } from "hono";
import type { fileRoutes } from "../api/routes/files.ts";
import { DaemonError } from "../errors.ts";
import { listFolder } from "../files/list-folder.ts";
import { checkReplacement } from "../files/replace-file.ts";
import { FileWatch } from "../files/watch-files.ts";
import { eventStreamResponse } from "./event-stream.ts";
import { FileResponder } from "./file-responder.ts";
import type { Handlers, HttpServices } from "./handler.ts";
import { openStream } from "./open-stream.ts";
import { limitBody } from "./limit-body.ts";
import { createSubmitter, idempotencyKey } from "./session-handlers.ts";
import type { StreamCounter } from "./stream-counter.ts";
import { viewCommand } from "../views.ts";

export function createFileHandlers(
  services: HttpServices,
  streams: StreamCounter,
): Handlers<keyof typeof fileRoutes> {
  const { database, runner, files } = services;
  const { sessions, commands } = database;
  const { refuseWhileDraining, requireAcceptingNode, waitFor } = createSubmitter(services);
  const responder = new FileResponder(files.limits.openReads);
  return {
    "GET /sessions/{sessionId}/files": async ({ params, query: { path, cursor, limit } }) => {
      const absolute = files.resolve(await sessions.require(params.sessionId), path);
      return listFolder(files.paths, absolute, {
        ...(cursor !== undefined && { cursor }),
        limit,
        name: path,
      });
    },
    "GET /sessions/{sessionId}/files/content": async ({ params, query: { path }, context }) => {
      const absolute = files.resolve(await sessions.require(params.sessionId), path);
      return responder.respond(await files.paths.openFile(absolute, path), context);
    },
    "PUT /sessions/{sessionId}/files/content": async ({ params, query, context, identity, signal }) => {
      await requireAcceptingNode();
      const { sessionId } = params;
      const { path } = query;
      const absolute = files.resolve(await sessions.require(sessionId), path);
      const key = idempotencyKey(context);
      const precondition = readPrecondition(context);
      // The first request has already changed the file. A repetition returns the command of the first request.
      const isRepeated = (await commands.find(sessionId, key)) !== undefined;
      if (!isRepeated) await checkReplacement(files.paths, absolute, { name: path, ...precondition });
      const content = await limitBody(context, path, files.limits.writeBytes, (body) =>
        files.staging.add(body, { sessionId, key, maxBytes: files.limits.writeBytes }),
      );
      const staged = { sessionId, key, sha256: content.sha256 };
      let command;
      try {
        const body = { path, ...content, ...precondition };
        ({ command } = await commands.submit({ sessionId, key, kind: "writeFile", body, by: identity.id }));
      } catch (error) {
        await files.staging.remove(staged);
        throw error;
      }
      const outcome = await waitFor(command, query.wait, signal);
      // For a new command, the owner has already removed them. These are the bytes of a repetition.
      if (outcome.result !== null) await files.staging.remove(staged);
      return viewCommand(outcome);
    },
    "GET /sessions/{sessionId}/files/changes": async ({
      params,
      query: { path, recursive },
      identity,
      signal,
    }) => {
      const absolute = files.resolve(await sessions.require(params.sessionId), path);
      const stream = openStream(services, streams, { kind: "files", identity, signal });
      try {
        const options = { recursive, limits: files.limits, name: path, signal: stream.signal };
        return eventStreamResponse(
          encodeChanges(await FileWatch.open(files.paths, absolute, options)),
          stream,
        );
      } catch (error) {
        stream.onEnd();
        throw error;
      }
    },
    "GET /sessions/{sessionId}/files/search": async ({ params, query: { query, limit }, signal }) => {
      const folder = files.resolve(await sessions.require(params.sessionId), ".");
      await using opened = await files.paths.openFolder(folder, ".");
      const found = await runner.searchFiles(query, { folder: opened.path, signal });
      const allowed = await Promise.all(
        found.slice(0, limit).map(async ({ path }) => isAllowed(`${opened.path}/${path}`)),
      );
      return { data: found.slice(0, limit).filter((_, index) => allowed[index]) };
    },
    "POST /sessions/{sessionId}/images": async ({ params: { sessionId }, context }) => {
      await refuseWhileDraining();
      files.requirePinned(await sessions.require(sessionId), database.store.kind);
      return limitBody(context, "the image", files.limits.imageBytes, (body) =>
        files.images.add(sessionId, body),
      );
    },
    "GET /sessions/{sessionId}/images/{imageId}": async ({ params: { sessionId, imageId } }) => {
      files.requirePinned(await sessions.require(sessionId), database.store.kind);
      const { contents, type } = await files.images.read(sessionId, imageId);
      return new Response(contents, {
        headers: {
          "content-type": type,
          "content-length": String(contents.byteLength),
          "x-content-type-options": "nosniff",
          // The ID is a hash of the contents, so the response never changes.
          "cache-control": "private, max-age=31536000, immutable",
        },
      });
    },
  };

  /** Codex decides which symbolic links its search follows, so the results are checked here. */
  async function isAllowed(path: string): Promise<boolean> {
    try {
      await using _ = await files.paths.open(path);
      return true;
    } catch (error) {
      if (DaemonError.is(error)) return false;
      throw error;
    }
  }
}

interface Precondition {
  readonly ifMatch?: string;
  readonly isNew?: true;
}

function readPrecondition({ req }: Context): Precondition {
  const ifMatch = req.header("if-match");
  const ifNoneMatch = req.header("if-none-match");
  if ((ifMatch?.length ?? 0) > 8192) throw new DaemonError("bad_request", "If-Match is too long.");
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== "*") {
    throw new DaemonError("bad_request", "If-None-Match must be `*` for a write.");
  }
  return {
    ...(ifMatch !== undefined && { ifMatch }),
    ...(ifNoneMatch !== undefined && { isNew: true as const }),
  };
}

const encoder = new TextEncoder();

async function* encodeChanges(watch: FileWatch): AsyncGenerator<Uint8Array> {
  await using source = watch;
  for await (const change of source.changes()) {
    yield encoder.encode(`data: ${JSON.stringify(change)}\n\n`);
  }
}
