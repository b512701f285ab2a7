import { z } from "zod";
import { fileChange, fileMatch, filePath, folderPage, uploadedImage } from "../file.ts";
import { booleanParameter, cursor, identifier, integerParameter, waitQuery } from "../parameters.ts";
import type { ProblemType } from "../problem.ts";
import type { Route } from "../route.ts";
import { command } from "../session.ts";
import { ofSession, sessionParams } from "./sessions.ts";

const ofFile = [
  ...ofSession,
  "files_unavailable",
  "file_not_found",
  "file_access_denied",
  "wrong_file_type",
] as const satisfies readonly ProblemType[];

const ETAG = { schema: { type: "string" }, description: "Changes with the contents of the file." } as const;

export const fileRoutes = {
  "GET /sessions/{sessionId}/files": {
    summary: "List a folder, sorted by name",
    tag: "files",
    scope: "read",
    params: sessionParams,
    machine: "required",
    query: z.strictObject({
      path: filePath.default("."),
      cursor: cursor.optional(),
      limit: integerParameter(1, 5000).default(500),
    }),
    status: 200,
    response: folderPage,
    problems: [...ofFile, "invalid_cursor", "too_many_connections"],
  },
  "GET /sessions/{sessionId}/files/content": {
    summary: "Read a file or a byte range of it",
    description:
      "Only regular files can be read. Images are served with their type and everything else as `application/octet-stream`, so that no browser executes it. `HEAD` returns only the headers.",
    tag: "files",
    scope: "read",
    params: sessionParams,
    machine: "required",
    query: z.strictObject({ path: filePath }),
    requestHeaders: {
      Range: "A byte range, such as `bytes=0-1023` or `bytes=-1024`.",
      "If-Range":
        "Entity tag to which the range applies. If the file has a different tag, the whole file is returned.",
      "If-None-Match":
        "Entity tags that the client has. The response is 304 if the file still has one of them.",
    },
    status: 200,
    contentType: "application/octet-stream",
    responseHeaders: { ETag: ETAG },
    otherStatuses: { 206: "The range.", 304: "Not changed." },
    problems: [...ofFile, "range_not_satisfiable", "too_many_connections"],
  },
  "PUT /sessions/{sessionId}/files/content": {
    summary: "Create a file or replace it atomically",
    description:
      "The body is the contents. The command stores their length and hash, but not the contents. Its result has `path`, `bytes` and `etag`. The folder must exist.",
    tag: "files",
    scope: "write",
    params: sessionParams,
    machine: "required",
    query: waitQuery.extend({ path: filePath }),
    bytes: true,
    requestHeaders: {
      "If-Match":
        "Entity tags of the contents that may be replaced. Rejected with `precondition_failed` if the file has none of them.",
      "If-None-Match": "`*`: rejected with `precondition_failed` if the file exists.",
    },
    idempotencyKey: true,
    status: 202,
    response: command,
    problems: [
      ...ofFile,
      "precondition_failed",
      "body_too_large",
      "key_reused",
      "draining",
      "disk_full",
      "store_full",
    ],
  },
  "GET /sessions/{sessionId}/files/changes": {
    summary: "Watch a file or folder",
    description:
      "The first message is `watching`; read the files after it. Changes are collected for a short time. There is no history, so read the files again after a reconnect.",
    tag: "files",
    scope: "read",
    params: sessionParams,
    machine: "required",
    query: z.strictObject({
      path: filePath.default("."),
      recursive: booleanParameter().default(false).meta({
        description:
          "Includes all subfolders, except those in `.git` and `node_modules`. Symbolic links are not followed.",
      }),
    }),
    status: 200,
    contentType: "text/event-stream",
    stream: fileChange,
    problems: [...ofFile, "too_many_connections"],
  },
  "GET /sessions/{sessionId}/files/search": {
    summary: "Find files below the session's folder by parts of their names, best match first",
    description: "Uses Codex's search, which excludes ignored files.",
    tag: "files",
    scope: "read",
    params: sessionParams,
    machine: "required",
    query: z.strictObject({
      query: z.string().min(1).max(1024),
      limit: integerParameter(1, 50).default(50),
    }),
    status: 200,
    response: z.object({ data: z.array(fileMatch) }).meta({ id: "FileMatches" }),
    problems: [...ofSession, "files_unavailable", "file_not_found", "codex_failed", "draining", "timeout"],
  },
  "POST /sessions/{sessionId}/images": {
    summary: "Upload an image for later messages",
    description:
      "PNG, JPEG, GIF or WebP, detected from the contents. Identical images are stored once. The image is deleted with the session.",
    tag: "files",
    scope: "write",
    params: sessionParams,
    machine: "required",
    bytes: true,
    status: 201,
    response: uploadedImage,
    problems: [
      ...ofSession,
      "files_unavailable",
      "body_too_large",
      "unsupported_media_type",
      "too_many_images",
      "disk_full",
    ],
  },
  "GET /sessions/{sessionId}/images/{imageId}": {
    summary: "Read an uploaded image",
    tag: "files",
    scope: "read",
    params: z.strictObject({ sessionId: identifier, imageId: identifier }),
    machine: "required",
    status: 200,
    contentType: "image/*",
    problems: [...ofSession, "files_unavailable", "not_found"],
  },
} as const satisfies Record<string, Route>;
