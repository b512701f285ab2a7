import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { join } from "node:path";
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
 * Opens a folder of a workspace without following links. Between a check of a path and its use, a process that the agent left
 * running can replace a folder by a link that leads out of the workspace; the path of an open folder can't be redirected.
 *
 * @param root The real path of the workspace.
 * @param path Relative to the root, with slashes; "." is the root.
 */
export function openFolder(
  root: string,
  path: string,
  { create = false }: { readonly create?: boolean } = {},
): OpenFolder {
  const names = path === "." ? [] : path.split("/");
  return hasDescriptorPaths ? openByDescriptor(root, names, create) : openByPath(root, names, create);
}

function openByDescriptor(root: string, names: readonly string[], create: boolean): OpenFolder {
  let fd = openSync(root, FLAGS);
  try {
    if (readlinkSync(`${DESCRIPTORS}/${fd}`) !== root) throw replacedRoot(root);
    for (const [index, name] of names.entries()) {
      const parent = fd;
      fd = openChild(`${DESCRIPTORS}/${parent}/${name}`, join(root, ...names.slice(0, index + 1)), create);
      closeSync(parent);
    }
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return { path: `${DESCRIPTORS}/${fd}`, [Symbol.dispose]: () => closeSync(fd) };
}

function openChild(path: string, name: string, create: boolean): number {
  try {
    return openSync(path, FLAGS);
  } catch (error) {
    if (!create || (error as NodeJS.ErrnoException).code !== "ENOENT") throw withPath(error, path, name);
  }
  mkdirSync(path);
  return openSync(path, FLAGS);
}

/** Paths of descriptors mean nothing to the reader of an error. */
export function withPath(error: unknown, used: string, name: string): unknown {
  if (!(error instanceof Error)) return error;
  error.message = error.message.replaceAll(used, name);
  return Object.assign(error, { path: name });
}

/** Systems without paths of descriptors check the path instead, shortly before it is used. */
function openByPath(root: string, names: readonly string[], create: boolean): OpenFolder {
  if (realpathSync(root) !== root) throw replacedRoot(root);
  let path = root;
  for (const name of names) {
    path = join(path, name);
    if (create) mkdirSync(path, { recursive: true });
    if (!lstatSync(path).isDirectory())
      throw Object.assign(new Error(`${path} is not a folder.`), { code: "ENOTDIR" });
  }
  return { path, [Symbol.dispose]: () => {} };
}

export function replacedRoot(root: string): PromptError {
  return new PromptError(
    "workspace_security",
    `The folder of the workspace, ${root}, was replaced or moved.`,
  );
}
