import type { v2 } from "@codexkit/protocol";
import { posix } from "node:path";
import { z } from "zod";

type Entry = v2.FileSystemSandboxEntry;
type Access = v2.FileSystemAccessMode;

/** Permissions that a handler grants. Anything beyond the request is removed. */
export interface PermissionGrant {
  readonly permissions: {
    readonly network?: { readonly enabled: boolean | null } | null | undefined;
    /** Paths in `read` and `write`, or rules in `entries`. If both are given, their intersection. */
    readonly fileSystem?:
      | {
          readonly read?: readonly string[] | null | undefined;
          readonly write?: readonly string[] | null | undefined;
          readonly entries?: readonly v2.FileSystemSandboxEntry[] | undefined;
        }
      | null
      | undefined;
  };
  /** Duration of the grant. Default: `"turn"`. */
  readonly scope?: v2.PermissionGrantScope;
  /** Reviews every later command of this turn before it runs. */
  readonly strictAutoReview?: boolean;
}

const paths = z.array(z.string()).readonly().nullish();
const pathSchema: z.ZodType<v2.FileSystemPath> = z.union([
  z.object({ type: z.literal("path"), path: z.string() }),
  z.object({ type: z.literal("glob_pattern"), pattern: z.string() }),
  // New releases add kinds of special paths. One is granted only if exactly the same was requested.
  z.object({ type: z.literal("special"), value: z.custom<v2.FileSystemSpecialPath>(isObject) }),
]);

/** Schema of a handler's grant. */
export const permissionGrantSchema = z.object({
  permissions: z.object({
    network: z.object({ enabled: z.boolean().nullable() }).nullish(),
    fileSystem: z
      .object({
        read: paths,
        write: paths,
        entries: z
          .array(z.object({ path: pathSchema, access: z.enum(["read", "write", "deny"]) }))
          .readonly()
          .optional(),
      })
      .nullish(),
  }),
  scope: z.enum(["turn", "session"]).optional(),
  strictAutoReview: z.boolean().optional(),
});

/**
 * The intersection of what was requested and granted: never more than was requested, at any path. An empty one is
 * `{}`, the denial.
 */
export function clampGrant(
  asked: v2.RequestPermissionProfile,
  granted: PermissionGrant["permissions"],
): v2.GrantedPermissionProfile {
  const entries = clampEntries(rulesOf(asked.fileSystem), grantedRules(granted.fileSystem));
  const depth = asked.fileSystem?.globScanMaxDepth;
  return {
    ...(asked.network?.enabled === true &&
      granted.network?.enabled === true && { network: { enabled: true } }),
    ...(entries.some(({ access }) => access !== "deny") && {
      // With `entries`, the server ignores the two older lists.
      fileSystem: {
        read: null,
        write: null,
        entries,
        ...(depth !== undefined && { globScanMaxDepth: depth }),
      },
    }),
  };
}

type FileSystem = PermissionGrant["permissions"]["fileSystem"];

function rulesOf(fileSystem: FileSystem): readonly Entry[] {
  return fileSystem?.entries ?? listRules(fileSystem);
}

function listRules(fileSystem: FileSystem): Entry[] {
  return (["read", "write"] as const).flatMap((access) =>
    (fileSystem?.[access] ?? []).map((path): Entry => ({ path: { type: "path", path }, access })),
  );
}

/** A handler may spread the request and shorten one list while the full `entries` remain: the intersection is meant. */
function grantedRules(fileSystem: FileSystem): readonly Entry[] {
  if (!fileSystem?.entries || (!fileSystem.read && !fileSystem.write)) return rulesOf(fileSystem);
  return clampEntries(fileSystem.entries, listRules(fileSystem));
}

/**
 * The lower of both accesses, at every path that either names. Between these paths both are constant, so the result
 * is exact everywhere.
 */
function clampEntries(asked: readonly Entry[], granted: readonly Entry[]): Entry[] {
  const byKey = new Map([...asked, ...granted].map(({ path }) => [keyOf(path), plain(path)]));
  return [...byKey.values()].flatMap((path) => {
    const [one, other] = [accessAt(asked, path), accessAt(granted, path)];
    const denied = [...asked, ...granted].some(
      (rule) => rule.access === "deny" && keyOf(rule.path) === keyOf(path),
    );
    // A path that only one side names is omitted: a "deny" rule would remove what the sandbox allows anyway.
    const access = denied ? "deny" : one && other && lower(one, other);
    return access === undefined || (access === "deny" && !denied) ? [] : [{ path, access }];
  });
}

/**
 * Returns the access that the rules give at a path: the closest rule above it applies. Patterns and special paths match
 * only themselves.
 */
function accessAt(rules: readonly Entry[], at: v2.FileSystemPath): Access | undefined {
  const here = rules.filter(({ path }) => keyOf(path) === keyOf(at) || isBelow(at, path));
  const depth = Math.max(...here.map(({ path }) => keyOf(path).length));
  const closest = here.filter(({ path }) => keyOf(path).length === depth).map(({ access }) => access);
  return closest.length > 0 ? closest.reduce(lower) : undefined;
}

const ranks: Record<Access, number> = { deny: 0, read: 1, write: 2 };

function lower(one: Access, other: Access): Access {
  return ranks[one] < ranks[other] ? one : other;
}

/** Whether a path is strictly below another. Paths of other platforms are compared for equality only. */
function isBelow(inner: v2.FileSystemPath, outer: v2.FileSystemPath): boolean {
  if (inner.type !== "path" || outer.type !== "path" || !inner.path.startsWith("/")) return false;
  const [below, above] = [keyOf(inner), keyOf(outer)];
  return below !== above && below.startsWith(above.endsWith("/") ? above : `${above}/`);
}

/** Normalises the path, so that the server gets the path that was decided on. */
function plain(path: v2.FileSystemPath): v2.FileSystemPath {
  return path.type === "path" ? { type: "path", path: keyOf(path) } : path;
}

/** Returns the same key for all spellings of a path. */
function keyOf(path: v2.FileSystemPath): string {
  if (path.type !== "path") return JSON.stringify(path);
  if (!path.path.startsWith("/")) return path.path;
  const straight = posix.normalize(path.path);
  return straight.length > 1 && straight.endsWith("/") ? straight.slice(0, -1) : straight;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
