import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Policy } from "./policy.ts";

/** What programs need to run at all; links among them (`/bin` → `usr/bin`) stay links. */
const MINIMAL = [
  "/bin",
  "/etc",
  "/lib",
  "/lib32",
  "/lib64",
  "/sbin",
  "/usr",
  "/nix/store",
  "/run/current-system",
];

/** Folders in a writable root that decide what other programs do there: they stay as they are. */
export const PROTECTED = [".git", ".agents", ".codex", ".aws"];

export interface BwrapPlan {
  readonly args: readonly string[];
  /** Protected folders that are not there: bubblewrap makes them to mount on, and they are to be removed again. */
  readonly madeFolders: readonly string[];
}

export interface BwrapInputs {
  /** An empty file that nobody may read: it stands where a file is denied. */
  readonly deniedFile: string;
  /** Files and folders that are readable whatever the policy says. */
  readonly alwaysReadable?: readonly string[];
  /** A folder that nobody in the sandbox sees, whatever the policy says. */
  readonly hiddenFolder: string;
  /** Whether a protected folder is there only because another sandbox needed it. */
  readonly keepsMade: (path: string) => boolean;
}

/** The mounts of a policy. What comes later lies over what came before, so the broadest comes first. */
export function bwrapPlan(
  policy: Policy,
  { deniedFile, hiddenFolder, keepsMade, alwaysReadable = [] }: BwrapInputs,
): BwrapPlan {
  const args = ["--die-with-parent", ...rootMounts(policy), "--dev", "/dev"];
  for (const path of alwaysReadable) args.push("--ro-bind", path, path);
  const madeFolders: string[] = [];
  const explicit = new Set(policy.grants.filter(({ access }) => access === "write").map(({ path }) => path));
  for (const { path, access } of policy.grants) {
    const target = realPath(path);
    if (target === undefined) continue;
    if (access === "deny") args.push(...denied(target, deniedFile));
    else {
      const bind = access === "write" ? "--bind" : "--ro-bind";
      args.push(bind, target, target);
      // On an empty disk the name that leads there has to be made too.
      if (target !== path && policy.root === "none") args.push(bind, target, path);
    }
    if (access === "write") args.push(...protectedFolders(target, explicit, keepsMade, madeFolders));
  }
  const hidden = realPath(hiddenFolder);
  if (hidden !== undefined && isVisible(hidden, policy)) args.push(...denied(hidden, deniedFile));
  args.push("--unshare-user", "--unshare-pid", "--unshare-ipc", ...(policy.network ? [] : ["--unshare-net"]));
  args.push("--proc", "/proc", "--cap-drop", "ALL");
  return { args, madeFolders };
}

function rootMounts({ root, minimal }: Policy): string[] {
  if (root === "write") return ["--bind", "/", "/"];
  if (root === "read") return ["--ro-bind", "/", "/"];
  return ["--tmpfs", "/", ...(minimal ? MINIMAL.flatMap(minimalMount) : [])];
}

function minimalMount(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return [];
  return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}

function isVisible(path: string, { root, grants }: Policy): boolean {
  const isGranted = grants.some((grant) => grant.access !== "deny" && path.startsWith(`${grant.path}/`));
  return root !== "none" || isGranted;
}

function denied(path: string, deniedFile: string): string[] {
  return isFolder(path)
    ? ["--perms", "000", "--tmpfs", path, "--remount-ro", path]
    : ["--ro-bind", deniedFile, path];
}

function protectedFolders(
  root: string,
  explicit: ReadonlySet<string>,
  keepsMade: (path: string) => boolean,
  made: string[],
): string[] {
  if (!isFolder(root)) return [];
  return PROTECTED.flatMap((name) => {
    const path = join(root, name);
    if (explicit.has(path)) return [];
    const found = keepsMade(path) ? undefined : lstatSync(path, { throwIfNoEntry: false });
    // Nothing can be mounted on a link: what it leads to is protected, the link itself is not.
    const target = found?.isSymbolicLink() ? realPath(path) : path;
    if (found) return target === undefined ? [] : ["--ro-bind", target, target];
    made.push(path);
    return ["--perms", "555", "--tmpfs", path, "--remount-ro", path];
  });
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // What is not there can be neither granted nor denied.
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
