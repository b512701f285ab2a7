import type { Mount, MountPlan } from "./mount-plan.ts";

export interface BwrapInputs {
  /** An empty file that can't be read. It is mounted over denied files. */
  readonly deniedFile: string;
  /** Files and folders that are always readable, regardless of the policy. */
  readonly alwaysReadable?: readonly string[];
  /** Whether placeholders exist at the paths that must not be created. */
  readonly hasPlaceholders: boolean;
}

/**
 * Returns bubblewrap's arguments for a plan. A later mount covers an earlier one, so the broadest comes
 * first.
 */
export function bwrapArgs(plan: MountPlan, inputs: BwrapInputs): readonly string[] {
  const { deniedFile, alwaysReadable = [], hasPlaceholders } = inputs;
  const passable = plan.mounts.filter((mount) => mount.kind === "deny-folder" && mount.passable);
  return [
    "--die-with-parent",
    ...rootMount(plan.root),
    "--dev",
    "/dev",
    ...plan.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...alwaysReadable.flatMap((path) => ["--ro-bind", path, path]),
    ...plan.mounts.flatMap((mount) => mountArgs(mount, deniedFile)),
    ...(hasPlaceholders ? plan.missing.flatMap(placeholderArgs) : []),
    // Last, because the mount points of granted folders are created in it first.
    ...passable.flatMap(({ path }) => ["--remount-ro", path]),
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    ...(plan.network ? [] : ["--unshare-net"]),
    "--proc",
    "/proc",
    "--cap-drop",
    "ALL",
  ];
}

function rootMount(root: MountPlan["root"]): string[] {
  if (root === "write") return ["--bind", "/", "/"];
  return root === "read" ? ["--ro-bind", "/", "/"] : ["--tmpfs", "/"];
}

function mountArgs(mount: Mount, deniedFile: string): string[] {
  const { path } = mount;
  switch (mount.kind) {
    case "bind":
      return [mount.writable ? "--bind" : "--ro-bind", path, path];
    case "deny-file":
      return ["--ro-bind", deniedFile, path];
    case "deny-folder":
      return mount.passable
        ? ["--perms", "111", "--tmpfs", path]
        : ["--perms", "000", "--tmpfs", path, "--remount-ro", path];
  }
}

function placeholderArgs({ path, access }: MountPlan["missing"][number]): string[] {
  return ["--perms", access === "deny" ? "000" : "555", "--tmpfs", path, "--remount-ro", path];
}
