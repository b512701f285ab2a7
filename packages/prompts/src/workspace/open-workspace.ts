import { type OptionKeys, rejectUnknownOptions } from "codexkit";
import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { checkValue, isString, isStrings } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import { WORKSPACE_LIMITS } from "./limits.ts";
import { copyMount, type Mount, type MountReport } from "./mount.ts";
import {
  createStateFolder,
  createTemporaryFolder,
  defaultStateRoot,
  findInterrupted,
  removeFolder,
} from "./state-folder.ts";
import { Workspace } from "./workspace.ts";

export interface WorkspaceOptions {
  /** Works in an existing folder. Can't be combined with `mounts`. */
  readonly folder?: string;
  /** Copies files into a temporary folder, which is removed when the workspace is closed. */
  readonly mounts?: readonly Mount[];
  /** Folders on the host that mounts may copy from. Required with `mounts`, because nothing is allowed by default. */
  readonly allowedRoots?: readonly string[];
  /** Maximum bytes that all mounts together may copy. Default: 256 MiB. */
  readonly maxBytes?: number;
  /** Where snapshots of a `folder` are stored. Default: `codexkit/workspaces` in the user's state folder. */
  readonly stateRoot?: string;
}

const KNOWN: OptionKeys<WorkspaceOptions> = {
  folder: true,
  mounts: true,
  allowedRoots: true,
  maxBytes: true,
  stateRoot: true,
};

/**
 * Opens the files that an agent works on.
 *
 * @example
 * await using workspace = openWorkspace({
 *   mounts: [{ from: "/srv/repositories/shop", exclude: ["node_modules/**"] }],
 *   allowedRoots: ["/srv/repositories"],
 * });
 */
export function openWorkspace(options: WorkspaceOptions = {}): Workspace {
  rejectUnknownOptions("openWorkspace", options, KNOWN);
  const { folder, mounts = [], allowedRoots = [], maxBytes = WORKSPACE_LIMITS.mountBytes } = options;
  const isBytes = (value: unknown): boolean => typeof value === "number" && value >= 0;
  checkValue("openWorkspace: folder", folder, "an absolute path", isString);
  checkValue("openWorkspace: mounts", mounts, "an array of mounts", Array.isArray);
  checkValue("openWorkspace: allowedRoots", allowedRoots, "an array of absolute paths", isStrings);
  checkValue("openWorkspace: maxBytes", maxBytes, "a number of bytes", isBytes);
  checkValue("openWorkspace: stateRoot", options.stateRoot, "a path", isString);
  if (folder !== undefined) {
    const extra = (["mounts", "allowedRoots", "maxBytes"] as const).find((key) => options[key] !== undefined);
    if (extra !== undefined) {
      throw new PromptError(
        "invalid_option",
        `openWorkspace: \`${extra}\` has no effect on a \`folder\`. Pass either \`folder\` or \`mounts\`.`,
      );
    }
    return openInPlace(folder, options.stateRoot ?? defaultStateRoot());
  }
  const temporary = createTemporaryFolder();
  try {
    const root = join(temporary, "workspace");
    mkdirSync(root);
    const reports: MountReport[] = [];
    let bytesLeft = maxBytes;
    for (const mount of mounts) {
      const report = copyMount(root, mount, allowedRoots, bytesLeft);
      bytesLeft -= report.bytes;
      reports.push(report);
    }
    return new Workspace({
      root,
      stateFolder: join(temporary, "state"),
      ownedFolder: temporary,
      mounts,
      reports,
    });
  } catch (error) {
    removeFolder(temporary);
    throw error;
  }
}

function openInPlace(folder: string, stateRoot: string): Workspace {
  if (!isAbsolute(folder) || !existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new PromptError(
      "invalid_option",
      `The workspace's folder must be the absolute path of a folder, got "${folder}".`,
    );
  }
  const root = realpathSync(folder);
  const interrupted = findInterrupted(stateRoot, root);
  const stateFolder = createStateFolder(stateRoot, root);
  return new Workspace({
    root,
    stateFolder,
    ownedFolder: stateFolder,
    mounts: [],
    reports: [],
    ...(interrupted && { interrupted }),
  });
}
