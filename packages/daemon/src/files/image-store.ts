import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { UploadedImage } from "../api/file.ts";
import { DaemonError } from "../errors.ts";
import { errorCode } from "./file-error.ts";
import { IMAGE_HEADER_BYTES, type ImageType, imageType } from "./image-type.ts";
import type { FileLimits } from "./limits.ts";
import type { Staging } from "./staging.ts";

/**
 * Uploaded images of sessions, in the daemon's state folder. The ID is the hash of the contents, so identical images
 * are stored once.
 */
export class ImageStore {
  readonly #folder: string;
  readonly #staging: Staging;
  readonly #limits: FileLimits;

  constructor(folder: string, staging: Staging, limits: FileLimits) {
    this.#folder = folder;
    this.#staging = staging;
    this.#limits = limits;
  }

  /**
   * Rejects with `unsupported_media_type` if the contents are not an image that Codex can read, regardless of the
   * declared type.
   */
  async add(sessionId: string, body: AsyncIterable<Uint8Array>): Promise<UploadedImage> {
    const { imageBytes, imagesPerSession } = this.#limits;
    const key = randomUUID();
    const { sha256, bytes } = await this.#staging.add(body, { sessionId, key, maxBytes: imageBytes });
    const staged = { sessionId, key, sha256 };
    try {
      const path = this.#staging.pathOf(staged);
      const type = imageType(await readHeader(path));
      if (!type) {
        throw new DaemonError("unsupported_media_type", "The body is not a PNG, JPEG, GIF or WebP image.");
      }
      const folder = this.#folderOf(sessionId);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const stored = await readdir(folder);
      if (!stored.includes(sha256) && stored.length >= imagesPerSession) {
        throw new DaemonError(
          "too_many_images",
          `The session already has ${stored.length} images, which is the maximum.`,
        );
      }
      await rename(path, join(folder, sha256));
      return { id: sha256, type, bytes };
    } catch (error) {
      await this.#staging.remove(staged);
      throw error;
    }
  }

  /** Reads an image. Rejects with `not_found`. */
  async read(sessionId: string, id: string): Promise<{ contents: Buffer; type: ImageType }> {
    const contents = await readFile(this.#pathOf(sessionId, id)).catch((error: unknown) => {
      throw errorCode(error) === "ENOENT" ? notFound(id) : error;
    });
    const type = imageType(contents);
    if (!type) throw notFound(id);
    return { contents, type };
  }

  /** Resolves to the size in bytes. Rejects with `not_found`. */
  async require(sessionId: string, id: string): Promise<number> {
    const { size } = await stat(this.#pathOf(sessionId, id)).catch(() => {
      throw notFound(id);
    });
    return size;
  }

  /** Removes the images of deleted sessions. */
  async removeExcept(isNeeded: (sessionId: string) => Promise<boolean>): Promise<void> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    });
    for (const name of names) {
      if (await isNeeded(Buffer.from(name, "hex").toString())) continue;
      await rm(join(this.#folder, name), { recursive: true, force: true });
    }
  }

  #pathOf(sessionId: string, id: string): string {
    if (!/^[0-9a-f]{64}$/.test(id)) throw notFound(id);
    return join(this.#folderOf(sessionId), id);
  }

  /** IDs can contain any printable characters, including slashes. */
  #folderOf(sessionId: string): string {
    return join(this.#folder, Buffer.from(sessionId).toString("hex"));
  }
}

async function readHeader(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(IMAGE_HEADER_BYTES));
  return buffer.subarray(0, bytesRead);
}

function notFound(id: string): DaemonError {
  return new DaemonError("not_found", `The session has no image "${id}". Upload it first.`);
}
