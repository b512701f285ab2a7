import { join, resolve } from "node:path";
import { nativeTextPath } from "../wire/path-uri.ts";
import type { SandboxContext, SandboxEntry } from "../wire/sandbox-context.ts";
import { type DenyPattern, parseDenyPattern } from "./deny-pattern.ts";
import { policyRefusal } from "./policy-refusal.ts";

export type Access = "read" | "write" | "deny";

export interface PathRule {
  readonly path: string;
  readonly access: Access;
}

/** The permissions of a sandbox, with paths as the client sent them. Independent of the state of the file system. */
export interface Policy {
  /** Access to paths without a more specific rule. */
  readonly root: "none" | "read" | "write";
  /** Whether the folders that programs need are readable if the disk as a whole is not. */
  readonly minimal: boolean;
  readonly rules: readonly PathRule[];
  readonly patterns: readonly DenyPattern[];
  /** Maximum depth below its base at which a pattern is matched. */
  readonly scanDepth: number | undefined;
  readonly network: boolean;
}

/** Full access to the disk and the network. */
export const UNRESTRICTED: Policy = {
  root: "write",
  minimal: true,
  rules: [],
  patterns: [],
  scanDepth: undefined,
  network: true,
};

/** Of two rules for the same path, the stronger one applies, regardless of their order. */
export const STRENGTH: Readonly<Record<Access, number>> = { read: 0, write: 1, deny: 2 };

/**
 * Reads the policy of a context. Undefined if it restricts nothing. Throws for contexts that are not
 * understood.
 */
export function readPolicy(context: SandboxContext): Policy | undefined {
  const { permissions } = context;
  if (permissions.type !== "managed") return undefined;
  if (context.useLegacyLandlock === true) throw policyRefusal("useLegacyLandlock is not supported.");
  const network = permissions.network === "enabled";
  if (permissions.file_system.type === "unrestricted") {
    return network ? undefined : { ...UNRESTRICTED, network };
  }
  const resolver = new EntryResolver(context);
  const rules: PathRule[] = [];
  const patterns: DenyPattern[] = [];
  let rootAccess: Access | undefined;
  let minimal = false;
  for (const entry of permissions.file_system.entries) {
    const access = entry.access === "none" ? "deny" : entry.access;
    if (entry.path.type === "glob_pattern") {
      if (access !== "deny")
        throw policyRefusal(
          `The pattern ${entry.path.pattern} must have the access "none", but has "${access}".`,
        );
      patterns.push(...resolver.patterns(entry.path.pattern));
    } else if (entry.path.type === "special" && entry.path.value.kind === "minimal") {
      minimal ||= access !== "deny";
    } else {
      for (const path of resolver.paths(entry)) {
        if (path !== "/") rules.push({ path, access });
        else if (rootAccess === undefined || STRENGTH[access] > STRENGTH[rootAccess]) rootAccess = access;
      }
    }
  }
  const root = rootAccess === undefined || rootAccess === "deny" ? "none" : rootAccess;
  const scanDepth = permissions.file_system.glob_scan_max_depth ?? undefined;
  const policy = { root, minimal, rules, patterns, scanDepth, network } as const;
  return isUnrestricted(policy) ? undefined : policy;
}

/** Whether this policy always allows an operation, so that it needs no sandbox. */
export function allowsEverywhere({ root, rules, patterns }: Policy, access: "read" | "write"): boolean {
  if (root === "none" || patterns.length > 0) return false;
  if (access === "write" && root !== "write") return false;
  return rules.every((rule) => rule.access === "write" || (access === "read" && rule.access === "read"));
}

function isUnrestricted(policy: Policy): boolean {
  return policy.network && allowsEverywhere(policy, "write");
}

/** Converts the entries of one context to paths. */
class EntryResolver {
  readonly #cwd: string | undefined;
  readonly #roots: readonly string[];
  readonly #temporary: readonly string[];

  constructor(context: SandboxContext) {
    // `policyContext` takes precedence over the members that older clients send.
    const cwd = context.policyContext?.cwd ?? context.cwd;
    const roots = context.policyContext?.workspaceRoots ?? context.workspaceRoots ?? [];
    this.#cwd = typeof cwd === "string" ? nativeTextPath(cwd) : undefined;
    this.#roots = roots.map((uri) => nativeTextPath(uri));
    const own = process.env["TMPDIR"];
    this.#temporary =
      context.temporaryDirectories?.map((uri) => nativeTextPath(uri)) ??
      (own === undefined || own === "" ? [] : [resolve(own)]);
  }

  patterns(pattern: string): readonly DenyPattern[] {
    return parseDenyPattern(pattern, { cwd: this.#cwd, workspaceRoots: this.#roots });
  }

  paths({ path, access }: SandboxEntry): readonly string[] {
    if (path.type === "glob_pattern") return [];
    if (path.type === "path") return [nativeTextPath(path.path)];
    const { value } = path;
    switch (value.kind) {
      case "root":
        return ["/"];
      case "tmpdir":
        return this.#temporary;
      case "slash_tmp":
        return ["/tmp"];
      case "project_roots":
      case "current_working_directory": {
        if (this.#roots.length === 0 && this.#cwd === undefined) {
          throw policyRefusal("Project roots need a working directory or workspace roots.");
        }
        return this.#roots.map((root) =>
          typeof value.subpath === "string" ? join(root, value.subpath) : root,
        );
      }
      case "minimal":
        return [];
      case "unknown":
        // An unknown location grants nothing. It can't be denied, so an attempt to deny it is refused.
        if (access === "deny" || access === "none")
          throw policyRefusal(`The location "${value.path}" can't be denied, because it is unknown.`);
        return [];
    }
  }
}
