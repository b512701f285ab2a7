import { readdirSync } from "node:fs";
import { WORKSPACE_LIMITS } from "./limits.ts";
import type { MountReport } from "./mount.ts";

/** Describes a workspace in a few lines of Markdown. */
export function previewWorkspace(root: string, mounts: readonly MountReport[]): string {
  const entries = readdirSync(root, { withFileTypes: true })
    .filter(({ name }) => name !== ".git")
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .toSorted();
  const shown = entries.slice(0, WORKSPACE_LIMITS.previewEntries).map((name) => `- ${name}`);
  if (entries.length > shown.length) shown.push(`- … and ${entries.length - shown.length} more`);
  const copied = mounts.map(({ to, files, bytes }) => `- ${to}: ${files} files, ${bytes} bytes`);
  return [
    ...(copied.length > 0 ? ["Copied into the workspace:", ...copied, ""] : []),
    "Files and folders in the workspace:",
    ...(shown.length > 0 ? shown : ["- none"]),
  ].join("\n");
}
