import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { DaemonError } from "../errors.ts";
import { errorCode } from "./file-error.ts";

/** Length and hash of the staged bytes of a write. */
export interface StagedContent {
  readonly sha256: string;
  readonly bytes: number;
}

/** Identifies the write that the staged bytes belong to. */
export interface StagedWrite {
  readonly sessionId: string;
  /** The idempotency key of the command. */
  readonly key: string;
  readonly sha256: string;
}

/** Keeps the bytes of writes on disk until the session's owner has carried them out. */
export class Staging {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the path of the staged bytes. It is derived from the command and is not stored in its row. */
  pathOf({ sessionId, key, sha256 }: StagedWrite): string {
    return join(this.#folder, stagedName({ sessionId, key, sha256 }));
  }

  /** Stores a body. It is on disk when this resolves. Rejects with `body_too_large`. */
  async add(
    body: AsyncIterable<Uint8Array>,
    { sessionId, key, maxBytes }: { sessionId: string; key: string; maxBytes: number },
  ): Promise<StagedContent> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const part = join(this.#folder, `${randomUUID()}.part`);
    try {
      const content = await storeBody(part, body, maxBytes);
      await rename(part, this.pathOf({ sessionId, key, sha256: content.sha256 }));
      return content;
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }

  /** Stores a body on disk until it is disposed. Rejects with `body_too_large`. */
  async spool(
    body: AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<AsyncDisposable & { readonly path: string }> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `${randomUUID()}.part`);
    const remove = async (): Promise<void> => rm(path, { force: true });
    try {
      await storeBody(path, body, maxBytes);
    } catch (error) {
      await remove();
      throw error;
    }
    return { path, [Symbol.asyncDispose]: remove };
  }

  async remove(write: StagedWrite): Promise<void> {
    await rm(this.pathOf(write), { force: true });
  }

  /** Removes files that no unfinished command needs, which a killed daemon has left behind. */
  async removeAllExcept(pending: readonly StagedWrite[]): Promise<void> {
    const needed = new Set(pending.map(stagedName));
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    });
    await Promise.all(
      names
        .filter((name) => !needed.has(name))
        .map(async (name) => rm(join(this.#folder, name), { force: true })),
    );
  }
}

/** Writes a body to a new file and returns its length and hash. */
export async function storeBody(
  path: string,
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<StagedContent> {
  const hash = createHash("sha256");
  let bytes = 0;
  await using file = await open(path, "wx", 0o600);
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      throw new DaemonError("body_too_large", `The body is larger than ${maxBytes} bytes.`, {
        details: { maxBytes },
      });
    }
    hash.update(chunk);
    await file.writeFile(chunk);
  }
  await file.sync();
  return { sha256: hash.digest("hex"), bytes };
}

function stagedName({ sessionId, key, sha256 }: StagedWrite): string {
  return createHash("sha256")
    .update(JSON.stringify([sessionId, key, sha256]))
    .digest("hex");
}
