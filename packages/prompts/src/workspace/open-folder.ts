import { closeSync, constants, existsSync, mkdirSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { join, posix } from "node:path";
import { PromptError } from "../errors.ts";

/** An open folder of a workspace. */
export interface OpenFolder extends Disposable {
  /** On Linux, this path always leads to the opened folder, even if another file has taken its name. */
  readonly path: string;
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const DESCRIPTORS = "/proc/self/fd";

const hasDescriptorPaths = process.platform === "linux" && existsSync(DESCRIPTORS);

/**
 * Opens a folder of a workspace, unless its path contains a link. Between a check of a path and its use, a process that the agent
 * left running could replace a folder with a link that leads outside the workspace. So the folder is opened first, then checked,
 * and then used through a path that can't be redirected. On systems without such paths, the path is checked just before its use.
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

/** Creates a folder. Another process may create it at the same time. */
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
  return new PromptError("workspace_security", `The workspace's folder, ${root}, was replaced or moved.`);
}

/** Replaces the path of a descriptor in an error with the caller's path. */
export function withPath(error: unknown, used: string, name: string): unknown {
  if (!(error instanceof Error)) return error;
  error.message = error.message.replaceAll(used, name);
  return Object.assign(error, { path: name });
}
