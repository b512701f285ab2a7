import type { InboxAnswer, InboxRequest } from "@codexkit/daemon/client";

type PermissionsRequest = Extract<InboxRequest, { kind: "permissions" }>;
type Profile = PermissionsRequest["permissions"];
type Entry = NonNullable<NonNullable<Profile["fileSystem"]>["entries"]>[number];
type Grant = NonNullable<Extract<InboxAnswer, { type: "decision" }>["grant"]>;

/** One permission of a request. */
export interface PermissionRow {
  readonly key: string;
  readonly access: "network" | "read" | "write";
  readonly label: string;
  /** Null if it can't be granted separately (patterns and special folders), but only together with all other permissions. */
  readonly path: string | null;
}

export interface PermissionView {
  readonly rows: readonly PermissionRow[];
  /** Paths that stay forbidden in every grant. */
  readonly denied: readonly string[];
}

/** Lists the requested permissions, which can be selected one by one. */
export function permissionView({ network, fileSystem }: Profile): PermissionView {
  const rows: PermissionRow[] = [];
  const denied: string[] = [];
  const push = (access: "read" | "write", label: string, path: string | null): void => {
    rows.push({ key: `${access} ${label}`, access, label, path });
  };
  if (network?.enabled === true) {
    rows.push({ key: "network", access: "network", label: "Network access", path: null });
  }
  // With `entries`, Codex ignores the two older lists.
  if (fileSystem?.entries) {
    for (const { path, access } of fileSystem.entries) {
      if (access === "deny") denied.push(describePath(path));
      else push(access, describePath(path), path.type === "path" ? path.path : null);
    }
  } else {
    for (const path of fileSystem?.write ?? []) push("write", path, path);
    for (const path of fileSystem?.read ?? []) push("read", path, path);
  }
  return { rows, denied };
}

/** Whether the row can be granted without the others. */
export function isSeparate(row: PermissionRow): boolean {
  return row.access === "network" || row.path !== null;
}

/**
 * Returns the grant for the selected rows: `"whole"` if all are selected, `"nothing"` if none is. A row that can't be granted
 * separately counts only if all rows are selected.
 */
export function toGrant(
  rows: readonly PermissionRow[],
  ticked: ReadonlySet<string>,
): Grant | "whole" | "nothing" {
  if (rows.length > 0 && rows.every(({ key }) => ticked.has(key))) return "whole";
  const granted = rows.filter((row) => ticked.has(row.key) && isSeparate(row));
  if (granted.length === 0) return "nothing";
  const pathsOf = (access: "read" | "write"): string[] =>
    granted.flatMap((row) => (row.access === access && row.path !== null ? [row.path] : []));
  const [read, write] = [pathsOf("read"), pathsOf("write")];
  return {
    network: granted.some(({ access }) => access === "network"),
    ...(read.length > 0 && { read }),
    ...(write.length > 0 && { write }),
  };
}

const SPECIAL = {
  root: "the whole file system",
  minimal: "what programs need to start",
  project_roots: "the project's folders",
  tmpdir: "the folder for temporary files",
  slash_tmp: "/tmp",
} as const;

function describePath(path: Entry["path"]): string {
  switch (path.type) {
    case "path":
      return path.path;
    case "glob_pattern":
      return path.pattern;
    case "special": {
      const { value } = path;
      const name = value.kind === "unknown" ? value.path : SPECIAL[value.kind];
      const subpath = "subpath" in value ? value.subpath : null;
      return subpath === null ? name : `${name}: ${subpath}`;
    }
  }
}
