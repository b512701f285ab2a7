import { createHash } from "node:crypto";
import { join } from "node:path";
import type { CommandBody, Message } from "../api/command.ts";
import type { Database } from "../database.ts";
import type { SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { pinnedNode } from "../session-store/needs.ts";
import { AllowedPaths } from "./allowed-paths.ts";
import { entityTag } from "./entity-tag.ts";
import { fileBody } from "./file-body.ts";
import { ImageStore } from "./image-store.ts";
import { FILE_LIMITS, type FileLimits } from "./limits.ts";
import { type ReplacedFile, replaceFile } from "./replace-file.ts";
import { Staging } from "./staging.ts";

export interface FileServiceOptions {
  /** Resolved folders. */
  readonly roots: readonly string[];
  /** Resolved. It contains tokens and credentials and is never served. */
  readonly stateFolder: string;
  readonly limits?: Partial<FileLimits> | undefined;
}

/** The parameters of a write, as stored in its command. */
export interface FileWrite {
  readonly id: string;
  readonly sessionId: string;
  readonly key: string;
  readonly cwd: string;
  readonly body: CommandBody<"writeFile">;
  /** Whether an earlier attempt may have completed the write. */
  readonly mayBeDone: boolean;
}

/** Files of the sessions on this node. */
export class FileService {
  readonly paths: AllowedPaths;
  readonly staging: Staging;
  readonly images: ImageStore;
  readonly limits: FileLimits;

  constructor({ roots, stateFolder, limits }: FileServiceOptions) {
    this.limits = { ...FILE_LIMITS, ...limits };
    this.paths = new AllowedPaths(roots, [stateFolder]);
    this.staging = new Staging(join(stateFolder, "staging"));
    this.images = new ImageStore(join(stateFolder, "images"), this.staging, this.limits);
  }

  /**
   * Returns the absolute form of a session's path. Rejects with `files_unavailable` if its files are not on this
   * machine.
   */
  resolve(session: Pick<SessionRow, "cwd" | "setup">, path: string): string {
    this.requireLocal(session);
    // The path is not normalised: the kernel resolves `..` after symbolic links, and a trailing slash requires a
    // folder.
    return path.startsWith("/") ? path : `${session.cwd}/${path}`;
  }

  requireLocal({ setup }: Pick<SessionRow, "setup">): void {
    if (process.platform !== "linux") {
      throw new DaemonError("files_unavailable", "Files are only served on Linux.");
    }
    if ("environment" in (JSON.parse(setup) as object)) {
      throw new DaemonError(
        "files_unavailable",
        "The files of the session are in its execution environment.",
      );
    }
  }

  /**
   * Rejects with `files_unavailable` if the session can move to another node, because uploaded images are in the state
   * folder of one node.
   */
  requirePinned({ needs }: Pick<SessionRow, "needs">, store: "sqlite" | "postgres"): void {
    if (store === "sqlite" || pinnedNode(JSON.parse(needs) as string[]) !== undefined) return;
    throw new DaemonError(
      "files_unavailable",
      "The session can move to another node. Send images as data URLs, or create the session on one node.",
    );
  }

  /**
   * Rejects with `not_found` if a message refers to an image that was not uploaded, and with `body_too_large` if the
   * images are too large in total.
   */
  async requireImages(sessionId: string, input: Exclude<Message["input"], string>): Promise<void> {
    const { messageImageBytes } = this.limits;
    let bytes = 0;
    for (const part of input) {
      if (part.type === "uploadedImage") bytes += await this.images.require(sessionId, part.imageId);
    }
    if (bytes <= messageImageBytes) return;
    throw new DaemonError(
      "body_too_large",
      `The images of a message can have at most ${messageImageBytes} bytes in total, and these have ${bytes}. Send smaller images or several messages.`,
    );
  }

  /** Carries out a write once. A repetition detects that the file already has its contents. */
  async write(write: FileWrite): Promise<ReplacedFile & { readonly recovered?: true }> {
    const { sessionId, key, body, cwd } = write;
    const path = body.path.startsWith("/") ? body.path : `${cwd}/${body.path}`;
    if (write.mayBeDone) {
      const done = await this.#findContents(path, body);
      if (done) return { ...done, recovered: true };
    }
    return replaceFile(this.paths, path, {
      source: this.staging.pathOf({ sessionId, key, sha256: body.sha256 }),
      id: write.id,
      name: body.path,
      ifMatch: body.ifMatch,
      isNew: body.isNew,
    });
  }

  /** Removes the remains of a killed daemon and the files of deleted sessions. */
  async cleanUp(database: Database): Promise<void> {
    const pending = await database.store.db
      .selectFrom("command")
      .select(["session_id", "key", "body"])
      .where("kind", "=", "writeFile")
      .where("finished_at", "is", null)
      .execute();
    await this.staging.removeAllExcept(
      pending.map(({ session_id: sessionId, key, body }) => ({
        sessionId,
        key,
        sha256: (JSON.parse(body) as CommandBody<"writeFile">).sha256,
      })),
    );
    await this.removeImages(database);
  }

  /** Removes the images of deleted sessions. */
  async removeImages({ sessions }: Database): Promise<void> {
    await this.images.removeExcept(async (sessionId) => {
      const session = await sessions.get(sessionId);
      return session !== undefined && session.phase !== "deleted";
    });
  }

  async #findContents(
    path: string,
    { sha256, bytes }: CommandBody<"writeFile">,
  ): Promise<ReplacedFile | undefined> {
    try {
      const file = await this.paths.openFile(path);
      if (Number(file.stats.size) !== bytes) {
        await file.handle.close();
        return undefined;
      }
      const hash = createHash("sha256");
      for await (const chunk of fileBody(file.handle, { start: 0, end: bytes }, () => {})) hash.update(chunk);
      return hash.digest("hex") === sha256
        ? { path: file.path, bytes, etag: entityTag(file.stats) }
        : undefined;
    } catch (error) {
      if (DaemonError.is(error)) return undefined;
      throw error;
    }
  }
}
