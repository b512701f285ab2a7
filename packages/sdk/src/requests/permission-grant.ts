import type { v2 } from "@codexkit/protocol";
import { posix } from "node:path";
import { z } from "zod";

type Entry = v2.FileSystemSandboxEntry;
type Access = v2.FileSystemAccessMode;

/** What a handler grants. More than was asked is cut off. */
export interface PermissionGrant {
  readonly permissions: {
    readonly network?: { readonly enabled: boolean | null } | null | undefined;
    /** Paths in `read` and `write`, or rules in `entries`; where both are given, what both allow. */
    readonly fileSystem?:
      | {
          readonly read?: readonly string[] | null | undefined;
          readonly write?: readonly string[] | null | undefined;
          readonly entries?: readonly v2.FileSystemSandboxEntry[] | undefined;
        }
      | null
      | undefined;
  };
  /** How long the grant lasts; this turn unless told. */
  readonly scope?: v2.PermissionGrantScope;
  /** Has every later command of this turn reviewed before it runs. */
  readonly strictAutoReview?: boolean;
}

const paths = z.array(z.string()).readonly().nullish();
const pathSchema: z.ZodType<v2.FileSystemPath> = z.union([
  z.object({ type: z.literal("path"), path: z.string() }),
  z.object({ type: z.literal("glob_pattern"), pattern: z.string() }),
  // The kinds of special path grow from release to release; one is granted only if the very same was asked.
  z.object({ type: z.literal("special"), value: z.custom<v2.FileSystemSpecialPath>(isObject) }),
]);

/** What a handler may return as a grant. */
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

/** What is both asked and granted: never more than was asked, at any path. Nothing of either gives `{}`, the denial. */
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
      // With `entries` the server ignores the two older lists.
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

/** A handler that spreads the request and shortens one list has left the full `entries` in: what both allow was meant. */
function grantedRules(fileSystem: FileSystem): readonly Entry[] {
  if (!fileSystem?.entries || (!fileSystem.read && !fileSystem.write)) return rulesOf(fileSystem);
  return clampEntries(fileSystem.entries, listRules(fileSystem));
}

/**
 * The lower access of the two, at every place that either names. Between those places both are constant, so that the result
 * is exact everywhere.
 */
function clampEntries(asked: readonly Entry[], granted: readonly Entry[]): Entry[] {
  const places = new Map([...asked, ...granted].map(({ path }) => [keyOf(path), plain(path)]));
  return [...places.values()].flatMap((path) => {
    const [one, other] = [accessAt(asked, path), accessAt(granted, path)];
    const denied = [...asked, ...granted].some(
      (rule) => rule.access === "deny" && keyOf(rule.path) === keyOf(path),
    );
    // A place that one side says nothing of is left out: a rule "deny" would take away what the sandbox gives anyway.
    const access = denied ? "deny" : one && other && lower(one, other);
    return access === undefined || (access === "deny" && !denied) ? [] : [{ path, access }];
  });
}

/** What the rules allow at a path: the closest rule above it decides. Patterns and special paths match only themselves. */
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

/** Whether a path is strictly below another. Paths of other systems than this are below none: only the same is the same. */
function isBelow(inner: v2.FileSystemPath, outer: v2.FileSystemPath): boolean {
  if (inner.type !== "path" || outer.type !== "path" || !inner.path.startsWith("/")) return false;
  const [below, above] = [keyOf(inner), keyOf(outer)];
  return below !== above && below.startsWith(above.endsWith("/") ? above : `${above}/`);
}

/** The path without its detours, so that the server sees the place that was decided on. */
function plain(path: v2.FileSystemPath): v2.FileSystemPath {
  return path.type === "path" ? { type: "path", path: keyOf(path) } : path;
}

/** One text for one place, however it is written. */
function keyOf(path: v2.FileSystemPath): string {
  if (path.type !== "path") return JSON.stringify(path);
  if (!path.path.startsWith("/")) return path.path;
  const straight = posix.normalize(path.path);
  return straight.length > 1 && straight.endsWith("/") ? straight.slice(0, -1) : straight;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
