import { messageOf } from "@codexkit/rpc/async";
import { SERVER_LIMITS } from "../../limits.ts";
import { runFileOperation } from "../../files/operations.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { FileMetadata, WalkResult } from "../../wire/exec-wire.ts";
import { nativePath } from "../../wire/path-uri.ts";
import { CODES, Refusal } from "../../wire/refusal.ts";
import type { SandboxContext } from "../../wire/sandbox-context.ts";
import { type ReadText, type RootBundle, rootBundle } from "./root-bundle.ts";

const FILE_BYTES = 1024 * 1024;
const ROOT_BYTES = 16 * 1024 * 1024;

const WALK = {
  maxDepth: 6,
  maxDirectories: 2_000,
  maxEntries: 20_000,
  followDirectorySymlinks: true,
  pruneHiddenDirectories: false,
};

/** The file operations that discovery needs, with or without a sandbox. */
export type FileCalls = (
  method: "fs/walk" | "fs/readFile" | "fs/getMetadata",
  params: { readonly path: string; readonly options?: object },
) => Promise<unknown>;

export function fileCalls(sandbox: Sandbox, context: SandboxContext | null | undefined): FileCalls {
  return async (method, params) => {
    if (!context) return runFileOperation(method, params);
    using helper = await sandbox.files(context, "read", nativePath(params.path));
    if (helper) return await helper.files.call(method, params);
    return await runFileOperation(method, params, { isProcHidden: sandbox.isRestricted(context) });
  };
}

/** Reads the files of a root that define plugins and skills. */
export async function scanRoot(path: string, call: FileCalls, warnings: string[]): Promise<RootBundle> {
  const { entries, errors, truncated } = (await call("fs/walk", { path, options: WALK })) as WalkResult;
  warnings.push(...errors.map((error) => `failed to scan capability path ${error.path}: ${error.message}`));
  if (truncated) warnings.push(`capability scan reached its traversal limit (root: ${path})`);
  const files = entries.filter(({ kind }) => kind === "file").map((entry) => entry.path);
  return rootBundle(path, files, textReader(call, warnings), warnings);
}

/**
 * Reads small UTF-8 files until the root's budget is used up. Adds a warning for files that can't be read.
 */
function textReader(call: FileCalls, warnings: string[]): ReadText {
  let left = Math.min(ROOT_BYTES, SERVER_LIMITS.messageBytes);
  const load = async (path: string): Promise<string | undefined> => {
    const { isFile, size } = (await call("fs/getMetadata", { path })) as FileMetadata;
    if (!isFile) return undefined;
    if (size > FILE_BYTES || size > left)
      throw new RangeError(
        `The file has more than ${FILE_BYTES} bytes, or the files of this root have too many in total.`,
      );
    const bytes = (await call("fs/readFile", { path })) as Buffer;
    // Keeps the byte order mark: Codex treats a file that starts with one as a file without front matter.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    left -= bytes.length;
    return text;
  };
  return (path) =>
    load(path).catch((error: unknown) => {
      if (error instanceof Refusal && error.rpcCode === CODES.notFound) return undefined;
      warnings.push(`${path}: ${messageOf(error)}`);
      return undefined;
    });
}
