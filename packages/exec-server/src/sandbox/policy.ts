import { globSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { CODES } from "../wire/codes.ts";
import { nativeTextPath } from "../wire/path-uri.ts";
import { Refusal } from "../wire/refusal.ts";
import type { SandboxContext, SandboxEntry } from "../wire/sandbox-context.ts";

export type Access = "read" | "write" | "deny";

/** What a sandbox allows, in paths of this machine. */
export interface Policy {
  /** Access to the whole disk, where more specific grants say nothing else. */
  readonly root: "none" | "read" | "write";
  /** Whether the folders that programs need are there, when the disk as a whole is not. */
  readonly minimal: boolean;
  /** From the broadest to the most specific, each path once. */
  readonly grants: readonly { readonly path: string; readonly access: Access }[];
  readonly network: boolean;
}

/** Matches of one pattern beyond this can't be masked one by one. */
const MAX_MATCHES = 2_000;

const STRENGTH: Readonly<Record<Access, number>> = { read: 0, write: 1, deny: 2 };

/** The policy of a context; undefined when it restricts nothing. Refuses what can't be understood. */
export function readPolicy(context: SandboxContext): Policy | undefined {
  const { permissions } = context;
  if (permissions.type !== "managed") return undefined;
  if (context.useLegacyLandlock === true) throw refused("legacy landlock is not supported");
  const network = permissions.network === "enabled";
  if (permissions.file_system.type === "unrestricted") {
    return network ? undefined : { root: "write", minimal: true, grants: [], network };
  }
  const places = new Places(context);
  let root: Policy["root"] = "none";
  let minimal = false;
  const grants = new Map<string, Access>();
  for (const entry of permissions.file_system.entries) {
    const access = entry.access === "none" ? "deny" : entry.access;
    if (isSpecial(entry, "minimal")) {
      minimal ||= access !== "deny";
      continue;
    }
    for (const path of places.of(entry)) {
      if (path !== "/") {
        const known = grants.get(path);
        if (known === undefined || STRENGTH[access] > STRENGTH[known]) grants.set(path, access);
      } else if (access === "deny") throw refused("the root of the disk can't be denied");
      else if (root !== "write") root = access;
    }
  }
  const sorted = [...grants]
    .map(([path, access]) => ({ path, access }))
    .toSorted((left, right) => depth(left.path) - depth(right.path));
  const policy = { root, minimal, grants: sorted, network };
  return isOpen(policy) ? undefined : policy;
}

function isOpen({ root, grants, network }: Policy): boolean {
  return root === "write" && network && grants.every(({ access }) => access === "write");
}

/** Resolves the entries of one context. */
class Places {
  readonly #cwd: string | undefined;
  readonly #roots: readonly string[];
  readonly #temporary: readonly string[];

  constructor(context: SandboxContext) {
    // What the policy was made with wins over what older clients send.
    const cwd = context.policyContext?.cwd ?? context.cwd;
    const roots = context.policyContext?.workspaceRoots ?? context.workspaceRoots ?? [];
    this.#cwd = typeof cwd === "string" ? nativeTextPath(cwd) : undefined;
    this.#roots = roots.map((uri) => nativeTextPath(uri));
    const own = process.env["TMPDIR"];
    this.#temporary =
      context.temporaryDirectories?.map((uri) => nativeTextPath(uri)) ??
      (own === undefined || own === "" ? [] : [resolve(own)]);
  }

  of({ path, access }: SandboxEntry): readonly string[] {
    if (path.type === "path") return [nativeTextPath(path.path)];
    if (path.type === "glob_pattern") return this.#matches(path.pattern);
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
          throw refused("project roots need a working directory or workspace roots");
        }
        return this.#roots.map((root) =>
          typeof value.subpath === "string" ? join(root, value.subpath) : root,
        );
      }
      case "minimal":
        return [];
      case "unknown":
        // What is not known grants nothing; but what it denies can't be denied.
        if (access === "deny" || access === "none")
          throw refused(`can't deny an unknown place: ${value.path}`);
        return [];
    }
  }

  #matches(pattern: string): string[] {
    if (!isAbsolute(pattern) && this.#cwd === undefined)
      throw refused(`a relative pattern needs a working directory: ${pattern}`);
    const found = globSync(resolve(this.#cwd ?? "/", pattern));
    if (found.length > MAX_MATCHES) throw refused(`more than ${MAX_MATCHES} paths match ${pattern}`);
    return found;
  }
}

function isSpecial({ path }: { path: { type: string; value?: { kind: string } } }, kind: string): boolean {
  return path.type === "special" && path.value?.kind === kind;
}

function depth(path: string): number {
  return path.split("/").length;
}

function refused(message: string): Refusal {
  return new Refusal(CODES.invalidParams, `sandbox cannot be enforced: ${message}`);
}
