import { closeSync, constants, existsSync, mkdirSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { join, posix } from "node:path";
import { PromptError } from "../errors.ts";

/** A folder of a workspace that is open. */
export interface OpenFolder extends Disposable {
  /** On Linux this path leads to the opened folder, whatever has its name meanwhile. */
  readonly path: string;
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const DESCRIPTORS = "/proc/self/fd";

const hasDescriptorPaths = process.platform === "linux" && existsSync(DESCRIPTORS);

/**
 * Opens a folder of a workspace, unless a link leads to it. Between a check of a path and its use, a process that the agent left
 * running can replace a folder by a link that leads out of the workspace. So the folder is opened first, then checked, and then
 * used by a path that can't be redirected. Systems without such paths check the path shortly before it is used.
 *
 * @param root The real path of the workspace.
 * @param path Relative to the root, with slashes; "." is the root.
 * @throws an error with the code `ENOENT` or `ENOTDIR` if there is no such folder
 */
export function openFolder(
  root: string,
  path: string,
  { create = false }: { readonly create?: boolean } = {},
): OpenFolder {
  const absolute = join(root, path);
  const fd = openOrCreate(root, path, create);
  try {
    const real = hasDescriptorPaths ? readlinkSync(`${DESCRIPTORS}/${fd}`) : realpathSync(absolute);
    if (real !== absolute || posix.normalize(path) !== path || path === ".." || path.startsWith("../"))
      throw notInside(root, absolute);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return {
    path: hasDescriptorPaths ? `${DESCRIPTORS}/${fd}` : absolute,
    [Symbol.dispose]: () => closeSync(fd),
  };
}

function openOrCreate(root: string, path: string, create: boolean): number {
  const absolute = join(root, path);
  try {
    return openSync(absolute, FLAGS);
  } catch (error) {
    if (!create || path === "." || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  {
    using parent = openFolder(root, posix.dirname(path), { create });
    createChild(join(parent.path, posix.basename(path)));
  }
  return openSync(absolute, FLAGS);
}

/** Another process may have created the folder meanwhile. */
function createChild(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function notInside(root: string, path: string): Error {
  if (path === root || realpathSync(root) !== root) return replacedRoot(root);
  return Object.assign(new Error(`ENOTDIR: not a directory, a link leads to '${path}'`), { code: "ENOTDIR" });
}

export function replacedRoot(root: string): PromptError {
  return new PromptError(
    "workspace_security",
    `The folder of the workspace, ${root}, was replaced or moved.`,
  );
}

/** Paths of descriptors mean nothing to the reader of an error. */
export function withPath(error: unknown, used: string, name: string): unknown {
  if (!(error instanceof Error)) return error;
  error.message = error.message.replaceAll(used, name);
  return Object.assign(error, { path: name });
}
