import type { WatchedFileChange, FileMatch, FolderEntry, FolderPage, UploadedImage } from "../api/file.ts";
import type { Command } from "../api/session.ts";
import type { DaemonCallOptions, DaemonClient } from "./client.ts";
import { DaemonClientError } from "./errors.ts";
import { type ReconnectOptions, reconnectingMessages } from "./message-stream.ts";

/** Information about a file. */
export interface FileInfo {
  /** Size of the whole file. */
  readonly size: number;
  /** Entity tag. Pass it to `write` as `ifMatch` to replace only these contents. */
  readonly etag: string;
  /** `application/octet-stream`, or the type of an image. */
  readonly type: string;
}

export interface FileContents extends FileInfo {
  readonly bytes: Uint8Array;
  /** Position of `bytes` in the file. */
  readonly start: number;
}

export interface ReadOptions extends DaemonCallOptions {
  /** First byte. Default: 0. */
  readonly start?: number;
  /** End of the range, exclusive. Default: the end of the file. */
  readonly end?: number;
}

export interface WriteOptions extends DaemonCallOptions {
  /** Entity tag of the contents that may be replaced. The call rejects with `precondition_failed` if the file has other contents. */
  readonly ifMatch?: string;
  /** If true, the call rejects with `precondition_failed` if the file exists. */
  readonly isNew?: boolean;
  /** Requests with the same key are carried out once. Default: a new key per call. */
  readonly idempotencyKey?: string;
}

export interface WrittenFile {
  /** Absolute path, with symbolic links resolved. */
  readonly path: string;
  readonly bytes: number;
  readonly etag: string;
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: NonNullable<RequestInit["body"]>;
  readonly signal?: AbortSignal;
}

type Send = (request: RawRequest) => Promise<Response>;

/** How long one request waits for the outcome of a write. */
const WAIT_MS = 30_000;

/** Access to the files of a session. Paths are relative to its folder, or absolute. */
export class SessionFiles {
  readonly #client: DaemonClient;
  readonly #sessionId: string;
  readonly #send: Send;

  /** @internal */
  constructor(client: DaemonClient, sessionId: string, send: Send) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.#send = send;
  }

  /** Lists one page of a folder, sorted by name. */
  async list(
    path = ".",
    {
      cursor,
      limit,
      ...options
    }: DaemonCallOptions & { readonly cursor?: string; readonly limit?: number } = {},
  ): Promise<FolderPage> {
    return this.#client.request("GET /sessions/{sessionId}/files", {
      params: { sessionId: this.#sessionId },
      query: { path, ...(cursor !== undefined && { cursor }), ...(limit !== undefined && { limit }) },
      ...options,
    });
  }

  /** Yields all entries of a folder, page by page. */
  async *entries(path = ".", options: DaemonCallOptions = {}): AsyncGenerator<FolderEntry> {
    let page = await this.list(path, options);
    yield* page.data;
    while (page.next !== null) {
      page = await this.list(path, { ...options, cursor: page.next });
      yield* page.data;
    }
  }

  async stat(path: string, options: DaemonCallOptions = {}): Promise<FileInfo> {
    const head = await this.#request("HEAD", path, {}, options);
    // The response to HEAD has no body. If it failed, the problem is read with a GET of the first byte.
    return readInfo(head.ok ? head : await this.#content(path, { range: "bytes=0-0" }, options));
  }

  /** Reads a file or a range of it. Read large files in ranges or with `stream`. */
  async read(path: string, { start = 0, end, ...options }: ReadOptions = {}): Promise<FileContents> {
    const isRange = start > 0 || end !== undefined;
    const headers = isRange ? { range: `bytes=${start}-${end === undefined ? "" : end - 1}` } : {};
    const response = await this.#content(path, headers, options);
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { ...readInfo(response), bytes, start: response.status === 206 ? start : 0 };
  }

  /** Streams the contents of a file. */
  async stream(path: string, options: DaemonCallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#content(path, {}, options);
    return response.body ?? new Blob([]).stream();
  }

  /** Creates a file or replaces it atomically. Resolves when it is on disk. */
  async write(
    path: string,
    contents: string | Uint8Array | Blob,
    { ifMatch, isNew, idempotencyKey, ...options }: WriteOptions = {},
  ): Promise<WrittenFile> {
    const response = await this.#send({
      method: "PUT",
      path: this.#path("/files/content"),
      query: { path, wait: WAIT_MS },
      headers: {
        "content-type": "application/octet-stream",
        ...(ifMatch !== undefined && { "if-match": ifMatch }),
        ...(isNew && { "if-none-match": "*" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      body: contents as NonNullable<RequestInit["body"]>,
      ...options,
    });
    let command = (await (await requireOk(response)).json()) as Command;
    while (command.state === "accepted" || command.state === "running") {
      command = await this.#client.request("GET /sessions/{sessionId}/commands/{commandId}", {
        params: { sessionId: this.#sessionId, commandId: command.id },
        query: { wait: WAIT_MS },
        ...options,
      });
    }
    const { problem, result } = command;
    if (problem) throw new DaemonClientError(problem.status, problem, `${problem.title}: ${problem.detail}`);
    return result as unknown as WrittenFile;
  }

  /**
   * Yields changes of a file or folder. Each connection starts with `watching`; anything read after that is up to date. Reconnects
   * automatically. Ends after `ended`, or when the signal aborts.
   */
  async *changes(
    path = ".",
    { recursive = false, ...options }: ReconnectOptions & { readonly recursive?: boolean } = {},
  ): AsyncGenerator<WatchedFileChange> {
    const connect = async (signal: AbortSignal): Promise<Response> =>
      this.#send({
        method: "GET",
        path: this.#path("/files/changes"),
        query: { path, recursive },
        headers: { accept: "text/event-stream" },
        signal,
      });
    for await (const messages of reconnectingMessages(connect, options)) {
      for (const { data } of messages) {
        const change = JSON.parse(data) as WatchedFileChange;
        yield change;
        if (change.type === "ended") return;
      }
    }
  }

  /** Finds files by parts of their names. The best match comes first. */
  async search(query: string, options: DaemonCallOptions = {}): Promise<readonly FileMatch[]> {
    const { data } = await this.#client.request("GET /sessions/{sessionId}/files/search", {
      params: { sessionId: this.#sessionId },
      query: { query },
      ...options,
    });
    return data;
  }

  /** Uploads an image. A message refers to it with `{ type: "uploadedImage", imageId }`. */
  async uploadImage(contents: Uint8Array | Blob, options: DaemonCallOptions = {}): Promise<UploadedImage> {
    const response = await this.#send({
      method: "POST",
      path: this.#path("/images"),
      headers: { "content-type": "application/octet-stream" },
      body: contents as NonNullable<RequestInit["body"]>,
      ...options,
    });
    return (await (await requireOk(response)).json()) as UploadedImage;
  }

  async #content(
    path: string,
    headers: Readonly<Record<string, string>>,
    options: DaemonCallOptions,
  ): Promise<Response> {
    return requireOk(await this.#request("GET", path, headers, options));
  }

  async #request(
    method: "GET" | "HEAD",
    path: string,
    headers: Readonly<Record<string, string>>,
    options: DaemonCallOptions,
  ): Promise<Response> {
    return this.#send({ method, path: this.#path("/files/content"), query: { path }, headers, ...options });
  }

  #path(suffix: string): string {
    return `/sessions/${encodeURIComponent(this.#sessionId)}${suffix}`;
  }
}

async function requireOk(response: Response): Promise<Response> {
  if (!response.ok) throw await DaemonClientError.fromResponse(response);
  return response;
}

function readInfo({ headers }: Response): FileInfo {
  const total = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  return {
    size: Number(total ?? headers.get("content-length")),
    etag: headers.get("etag") ?? "",
    type: headers.get("content-type") ?? "application/octet-stream",
  };
}
