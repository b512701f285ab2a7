import { CODES, Refusal } from "../wire/refusal.ts";
import { decodeBase64 } from "../wire/base64.ts";
import type { FileParams } from "../wire/file-params.ts";
import { osFailure } from "../wire/os-failure.ts";
import { nativePath } from "../wire/path-uri.ts";
import { releaseMemory } from "../wire/release-memory.ts";
import { copyPath } from "./copy.ts";
import type { OpenOptions } from "./open-file.ts";
import { createDirectory } from "./create-directory.ts";
import { canonicalUri, readMetadata } from "./metadata.ts";
import { readDirectory } from "./read-directory.ts";
import { readFileWhole } from "./read-file.ts";
import { removePath } from "./remove.ts";
import { walkTree } from "./walk.ts";
import { writeFileWhole } from "./write-file.ts";

/** How a sandbox restricts an operation that needs no helper. */
export type ReadOptions = Pick<OpenOptions, "isProcHidden">;

/**
 * The file operations that need only the file system. The server runs them directly, and the helper runs them
 * in a sandbox. Bytes are not encoded until they are sent.
 */
export const fileOperations = {
  "fs/readFile": ({ path, followSymlinks }: FileParams<"fs/readFile">, { isProcHidden }: ReadOptions = {}) =>
    readFileWhole(nativePath(path), { followSymlinks: followSymlinks ?? true, isProcHidden }),

  "fs/writeFile": async ({ path, dataBase64, followSymlinks }: FileParams<"fs/writeFile">) => {
    const bytes = decodeBase64(dataBase64);
    if (!bytes) throw new Refusal(CODES.invalidRequest, "fs/writeFile requires valid base64 dataBase64");
    await writeFileWhole(nativePath(path), bytes, followSymlinks ?? true);
    releaseMemory(bytes);
    return {};
  },

  "fs/createDirectory": async (params: FileParams<"fs/createDirectory">) => {
    const { recursive, followSymlinks } = params;
    await createDirectory(nativePath(params.path), {
      recursive: recursive ?? true,
      followSymlinks: followSymlinks ?? true,
    });
    return {};
  },

  "fs/getMetadata": ({ path, followSymlinks }: FileParams<"fs/getMetadata">) =>
    readMetadata(nativePath(path), followSymlinks ?? true),

  "fs/canonicalize": async ({ path }: FileParams<"fs/canonicalize">) => ({
    path: await canonicalUri(nativePath(path)),
  }),

  "fs/readDirectory": async ({ path }: FileParams<"fs/readDirectory">) => ({
    entries: await readDirectory(nativePath(path)),
  }),

  "fs/walk": ({ path, options }: FileParams<"fs/walk">) => walkTree(nativePath(path), options),

  "fs/remove": async ({ path, recursive, force, followSymlinks }: FileParams<"fs/remove">) => {
    await removePath(nativePath(path), {
      recursive: recursive ?? true,
      force: force ?? true,
      followSymlinks: followSymlinks ?? true,
    });
    return {};
  },

  "fs/copy": async ({ sourcePath, destinationPath, recursive }: FileParams<"fs/copy">) => {
    await copyPath(nativePath(sourcePath), nativePath(destinationPath), recursive);
    return {};
  },
};

export type FileOperation = keyof typeof fileOperations;

/** Runs one operation and converts system errors to the errors that Codex expects. */
export async function runFileOperation(
  method: FileOperation,
  params: unknown,
  options: ReadOptions = {},
): Promise<unknown> {
  const run = fileOperations[method] as (params: unknown, options: ReadOptions) => Promise<unknown>;
  try {
    return await run(params, options);
  } catch (error) {
    throw osFailure(error);
  }
}
