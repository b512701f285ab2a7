import { type CallOptions, RawJson } from "@codexkit/rpc";
import { randomUUID } from "node:crypto";
import { EXEC_LIMITS } from "../limits.ts";
import type { DirectoryEntry, FileMetadata, WalkResult } from "../wire/exec-wire.ts";
import type { FileParams } from "../wire/file-params.ts";
import { pathUri } from "../wire/path-uri.ts";
import type { SandboxContext } from "../wire/sandbox-context.ts";
import type { SessionLink } from "./session-link.ts";

export interface FileCallOptions extends CallOptions {
  readonly sandbox?: SandboxContext;
  /** Whether symbolic links are followed. If false, a path with any link in it is refused. Default: true. */
  readonly followSymlinks?: boolean;
}

/** A path on the server's machine, or its `file:` URI. */
export type RemotePath = string | URL;

/** Limits of a walk. */
export type WalkOptions = FileParams<"fs/walk">["options"];

/** Files on the server. Paths are absolute. */
export class RemoteFiles {
  readonly #link: SessionLink;

  /** @internal Created by `ExecClient`. */
  constructor(link: SessionLink) {
    this.#link = link;
  }

  async read(path: RemotePath, options: FileCallOptions = {}): Promise<Buffer> {
    const { dataBase64 } = await this.#link.request("fs/readFile", target(path, options), options);
    return Buffer.from(dataBase64, "base64");
  }

  async write(path: RemotePath, data: string | Uint8Array, options: FileCallOptions = {}): Promise<void> {
    const params = rawParams(target(path, options), "dataBase64", asBuffer(data));
    await this.#link.requestRaw("fs/writeFile", params, options);
  }

  /** Reads a file in blocks, with one block in memory at a time. */
  async *stream(
    path: RemotePath,
    options: FileCallOptions & { blockBytes?: number } = {},
  ): AsyncGenerator<Buffer> {
    const handleId = randomUUID().replaceAll("-", "");
    const len = options.blockBytes ?? EXEC_LIMITS.blockBytes;
    const { followSymlinks: _, ...at } = target(path, options);
    await this.#link.request("fs/open", { ...at, handleId }, options);
    try {
      for (let offset = 0; ;) {
        const { chunk, eof } = await this.#link.request("fs/readBlock", { handleId, offset, len }, options);
        const bytes = Buffer.from(chunk, "base64");
        offset += bytes.length;
        if (bytes.length > 0) yield bytes;
        if (eof) return;
      }
    } finally {
      await this.#link.request("fs/close", { handleId }).catch(() => {});
    }
  }

  /** Writes a file in blocks from any source. */
  async writeStream(
    path: RemotePath,
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: FileCallOptions = {},
  ): Promise<void> {
    const handleId = randomUUID().replaceAll("-", "");
    const { followSymlinks: _, ...at } = target(path, options);
    await this.#link.request("fs/open", { ...at, handleId, mode: "replace" }, options);
    let offset = 0;
    try {
      for await (const data of source) {
        for (let from = 0; from < data.length; from += EXEC_LIMITS.blockBytes) {
          const bytes = asBuffer(data.subarray(from, from + EXEC_LIMITS.blockBytes));
          await this.#link.request(
            "fs/writeBlock",
            { handleId, offset, chunk: bytes.toString("base64") },
            options,
          );
          offset += bytes.length;
        }
      }
    } finally {
      await this.#link.request("fs/close", { handleId }).catch(() => {});
    }
  }

  metadata(path: RemotePath, options: FileCallOptions = {}): Promise<FileMetadata> {
    return this.#link.request("fs/getMetadata", target(path, options), options);
  }

  async list(path: RemotePath, options: FileCallOptions = {}): Promise<readonly DirectoryEntry[]> {
    const { followSymlinks: _, ...at } = target(path, options);
    return (await this.#link.request("fs/readDirectory", at, options)).entries;
  }

  walk(path: RemotePath, walkOptions: WalkOptions, options: FileCallOptions = {}): Promise<WalkResult> {
    const { followSymlinks: _, ...at } = target(path, options);
    return this.#link.request("fs/walk", { ...at, options: walkOptions }, options);
  }

  async canonicalize(path: RemotePath, options: FileCallOptions = {}): Promise<string> {
    const { followSymlinks: _, ...at } = target(path, options);
    return (await this.#link.request("fs/canonicalize", at, options)).path;
  }

  async makeDirectory(
    path: RemotePath,
    options: FileCallOptions & { recursive?: boolean } = {},
  ): Promise<void> {
    const recursive = options.recursive ?? true;
    await this.#link.request("fs/createDirectory", { ...target(path, options), recursive }, options);
  }

  async remove(
    path: RemotePath,
    options: FileCallOptions & { recursive?: boolean; force?: boolean } = {},
  ): Promise<void> {
    const { recursive = true, force = true } = options;
    await this.#link.request("fs/remove", { ...target(path, options), recursive, force }, options);
  }

  async copy(
    from: RemotePath,
    to: RemotePath,
    options: FileCallOptions & { recursive?: boolean } = {},
  ): Promise<void> {
    const params = {
      sourcePath: asUri(from),
      destinationPath: asUri(to),
      recursive: options.recursive ?? false,
    };
    await this.#link.request("fs/copy", { ...params, sandbox: options.sandbox ?? null }, options);
  }
}

/** Converts a path to a `file:` URI. Returns a URI unchanged. */
export function asUri(path: RemotePath): string {
  const text = String(path);
  return /^file:/i.test(text) ? text : pathUri(text);
}

function target(
  path: RemotePath,
  { sandbox, followSymlinks }: FileCallOptions,
): { path: string; sandbox: SandboxContext | null; followSymlinks?: boolean } {
  return {
    path: asUri(path),
    sandbox: sandbox ?? null,
    ...(followSymlinks === undefined ? {} : { followSymlinks }),
  };
}

/** Builds params with one large base64 member, which needs no escaping and is not scanned again. */
function rawParams(members: object, key: string, bytes: Buffer): RawJson {
  return new RawJson(`${JSON.stringify(members).slice(0, -1)},"${key}":"${bytes.toString("base64")}"}`);
}

function asBuffer(data: string | Uint8Array): Buffer {
  if (typeof data === "string") return Buffer.from(data);
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
