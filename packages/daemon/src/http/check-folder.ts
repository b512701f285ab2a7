import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { isInside } from "@codexkit/rpc";
import { DaemonError } from "../errors.ts";

/**
 * Resolves the symbolic links of a folder and checks that it is inside one of the roots, which must also be resolved.
 */
export async function checkFolder(folder: string, roots: readonly string[]): Promise<string> {
  if (!isAbsolute(folder)) {
    throw new DaemonError("path_not_allowed", `"${folder}" is not an absolute path.`);
  }
  const resolved = await realpath(folder).catch(() => undefined);
  // The same response for a missing and a forbidden folder, so that a client can't find out what exists outside the
  // roots.
  if (resolved === undefined || !roots.some((root) => isInside(root, resolved))) {
    throw new DaemonError(
      "path_not_allowed",
      `"${folder}" does not exist or is outside the allowed roots: ${roots.join(", ")}.`,
    );
  }
  if (!(await stat(resolved)).isDirectory()) {
    throw new DaemonError("path_not_allowed", `"${folder}" is not a folder.`);
  }
  return resolved;
}
