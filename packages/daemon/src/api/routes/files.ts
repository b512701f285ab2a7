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
    summary: "Read a file, or a range of its bytes",
    description:
      "Only regular files are read. Images have their type; everything else is `application/octet-stream`, so that no browser runs it. `HEAD` gives the headers alone.",
    tag: "files",
    scope: "read",
    params: sessionParams,
    machine: "required",
    query: z.strictObject({ path: filePath }),
    requestHeaders: {
      Range: "One range of bytes, such as `bytes=0-1023` or `bytes=-1024`.",
      "If-Range": "The tag that the range belongs to. If the file has another, it is sent as a whole.",
      "If-None-Match": "Tags that the client has: 304 if the file still has one of them.",
    },
    status: 200,
    contentType: "application/octet-stream",
    responseHeaders: { ETag: ETAG },
    otherStatuses: { 206: "The range.", 304: "Not changed." },
    problems: [...ofFile, "range_not_satisfiable", "too_many_connections"],
  },
  "PUT /sessions/{sessionId}/files/content": {
    summary: "Write a file: replace it in one step, or create it",
    description:
      "The body is the contents. The command is stored with their length and hash, the contents are not. Its result has `path`, `bytes` and `etag`. The folder must exist.",
    tag: "files",
    scope: "write",
    params: sessionParams,
    machine: "required",
    query: waitQuery.extend({ path: filePath }),
    bytes: true,
    requestHeaders: {
      "If-Match": "Tags of the contents that may be replaced: `precondition_failed` if the file has others.",
      "If-None-Match": "`*`: `precondition_failed` if the file exists.",
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
    summary: "Watch a file or a folder",
    description:
      "The first message is `watching`; read the files after it. Changes are collected for a moment. There is no history: after a reconnect, read again.",
    tag: "files",
    scope: "read",
    params: sessionParams,
    machine: "required",
    query: z.strictObject({
      path: filePath.default("."),
      recursive: booleanParameter().default(false).meta({
        description:
          "All folders below it, except those in `.git` and `node_modules`. Links are not followed.",
      }),
    }),
    status: 200,
    contentType: "text/event-stream",
    stream: fileChange,
    problems: [...ofFile, "too_many_connections"],
  },
  "GET /sessions/{sessionId}/files/search": {
    summary: "Find files below the session's folder by parts of their names, best match first",
    description: "Codex's own search, which leaves out ignored files.",
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
      "PNG, JPEG, GIF or WebP, recognised by the contents. The same image is stored once. It is deleted with the session.",
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
