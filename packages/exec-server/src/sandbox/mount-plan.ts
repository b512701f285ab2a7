import { type BigIntStats, constants } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Refusal } from "../wire/refusal.ts";
import { type DenyScanLimits, findDenied } from "./deny-scan.ts";
import { PathResolver, type ResolvedPath } from "./path-resolver.ts";
import { type Access, type Policy, STRENGTH } from "./policy.ts";
import { policyRefusal } from "./policy-refusal.ts";

/** Names in a writable root that configure other programs. They are read-only. */
export const PROTECTED_NAMES = [".git", ".agents", ".codex", ".aws"];

/** Folders that programs need in order to run at all. Links among them (`/bin` → `usr/bin`) stay links. */
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

/** Maximum size of a `.git` file, which contains little more than a path. */
const GIT_FILE_BYTES = 8_192n;

export type Mount =
  | { readonly kind: "bind"; readonly path: string; readonly writable: boolean }
  /** An empty folder that can't be listed. If `passable` is set, granted folders below it can be reached. */
  | { readonly kind: "deny-folder"; readonly path: string; readonly passable: boolean }
  | { readonly kind: "deny-file"; readonly path: string };

/** The mounts of one policy for the current state of the file system. */
export interface MountPlan {
  readonly root: Policy["root"];
  readonly network: boolean;
  /** Links that have to be created on an empty disk, so that paths through them can be resolved. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** From the broadest to the most specific. */
  readonly mounts: readonly Mount[];
  /** Paths in writable folders that don't exist and must not be created. */
  readonly missing: readonly { readonly path: string; readonly access: "read" | "deny" }[];
  /** The files and folders that the mounts were planned for. */
  readonly sources: ReadonlyMap<string, BigIntStats>;
}

/** How a path can be used. "hidden": not granted, on a disk that is not readable as a whole. */
type Effective = "hidden" | "read" | "write" | "denied";

interface Rule {
  readonly access: Access;
  readonly resolved: ResolvedPath;
  /** Denied by a pattern that still matches after the file is moved. */
  readonly isFloating: boolean;
}

export interface PlanOptions {
  /** Always denied, regardless of the policy. */
  readonly hiddenFolders: readonly string[];
  readonly limits: DenyScanLimits;
}

/**
 * Plans the mounts of a policy.
 *
 * A more specific rule wins over a broader one, except that reading is not granted below what is denied, and that a
 * pattern wins over every rule. This is how Codex's own sandbox works on Linux.
 */
export async function planMounts(policy: Policy, options: PlanOptions): Promise<MountPlan> {
  const builder = await startPlan(policy, options);
  const [link] = builder.replaceableLinks();
  if (link !== undefined) throw replaceable(link);
  return builder.build();
}

/**
 * Plans the mounts for a sandbox that only removes a link because of which `planMounts` refuses the policy.
 * Otherwise, a link that matches a deny pattern would lock its workspace.
 */
export async function planLinkRemoval(
  policy: Policy,
  link: string,
  options: PlanOptions,
): Promise<MountPlan> {
  const builder = await startPlan(policy, options);
  if (!builder.replaceableLinks().includes(link) || builder.isProtected(link)) throw replaceable(link);
  return builder.build();
}

async function startPlan(policy: Policy, options: PlanOptions): Promise<PlanBuilder> {
  const builder = new PlanBuilder(policy);
  await builder.addRules(options);
  await builder.addProtectedNames();
  return builder;
}

class PlanBuilder {
  readonly #policy: Policy;
  readonly #resolver = new PathResolver();
  readonly #rules = new Map<string, Rule>();
  /** Every path that was resolved, for the check of its links. */
  readonly #resolved: ResolvedPath[] = [];
  /** Resolved paths that a rule makes readable or writable. */
  readonly #granted: ResolvedPath[] = [];
  readonly #links = new Map<string, string>();

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  async addRules({ hiddenFolders, limits }: PlanOptions): Promise<void> {
    const { root, minimal, rules, patterns, scanDepth } = this.#policy;
    if (root === "none" && minimal) {
      for (const path of MINIMAL) {
        const resolved = await this.#resolver.resolve(path);
        for (const link of resolved.links) this.#links.set(link.path, link.target);
        if (resolved.links.length === 0 && resolved.stats) this.#add(resolved, "read");
      }
    }
    const hidden = await Promise.all(hiddenFolders.map((path) => this.#resolver.resolve(path)));
    const stopped: { resolved: ResolvedPath; access: Access }[] = [];
    // Concurrently, because resolving each component of each path waits for the file system.
    const found = rules.map(async (rule) => ({ ...rule, resolved: await this.#resolver.resolve(rule.path) }));
    for (const { path, access, resolved } of await Promise.all(found)) {
      if (hidden.some(({ real }) => isWithin(resolved.real, real)))
        throw policyRefusal(`${path} is in the exec-server's own folder.`);
      this.#resolved.push(resolved);
      if (access !== "deny") this.#granted.push(resolved);
      if (resolved.stoppedBy === undefined) this.#add(resolved, access);
      else if (access !== "write") stopped.push({ resolved, access });
    }
    for (const { resolved, access } of stopped) this.#addStopped(resolved, access);
    for (const { base } of patterns) this.#resolved.push(await this.#resolver.resolve(base));
    for (const { path, isFloating } of await findDenied(patterns, scanDepth, limits)) {
      const resolved = await this.#resolver.resolve(path);
      this.#resolved.push(resolved);
      this.#add(resolved, "deny", isFloating);
      // A pattern also denies what an explicit rule below it grants.
      for (const [other, rule] of this.#rules)
        if (rule.access !== "deny" && isWithin(other, resolved.real)) this.#rules.delete(other);
    }
    for (const folder of hidden) this.#add(folder, "deny");
  }

  async addProtectedNames(): Promise<void> {
    const writable = [...this.#rules].filter(
      ([, { access, resolved }]) => access === "write" && resolved.stats?.isDirectory() === true,
    );
    const found = writable.flatMap(([folder]) =>
      PROTECTED_NAMES.map(async (name) => {
        const path = join(folder, name);
        return { folder, name, path, resolved: await this.#resolver.resolve(path) };
      }),
    );
    for (const { folder, name, path, resolved } of await Promise.all(found)) {
      if (name === ".git") await this.#protectGitFolder(folder, resolved);
      if (this.#rules.has(path)) continue;
      this.#resolved.push(resolved);
      if (resolved.links.length === 0) this.#add(resolved, "read");
    }
  }

  /** A `.git` file names the folder of the repository, which is protected like a `.git` folder. */
  async #protectGitFolder(folder: string, { real, stats }: ResolvedPath): Promise<void> {
    if (!stats?.isFile() || stats.size > GIT_FILE_BYTES) return;
    const text = await fs.readFile(real, "utf8").catch(() => "");
    const target = /^gitdir:(?<path>.*)$/m.exec(text)?.groups?.["path"]?.trim();
    if (target === undefined || target === "") return;
    const resolved = await this.#resolver.resolve(resolve(folder, target));
    // Outside writable folders it can't be written to anyway, and a mount could make it readable.
    if (this.#rules.has(resolved.real) || this.#accessAt(resolved.real) !== "write") return;
    this.#resolved.push(resolved);
    this.#add(resolved, "read");
  }

  /** Returns links that the sandbox can replace: they could lead anywhere when the next sandbox is set up. */
  replaceableLinks(): readonly string[] {
    const links = this.#resolved.flatMap((resolved) => resolved.links.map(({ path }) => path));
    return links.filter((path) => this.#accessAt(dirname(path)) === "write");
  }

  /** Whether a path has a protected name in a writable root. */
  isProtected(path: string): boolean {
    return PROTECTED_NAMES.includes(basename(path)) && this.#rules.get(dirname(path))?.access === "write";
  }

  async build(): Promise<MountPlan> {
    for (const { path, target } of this.#granted.flatMap(({ links }) => links)) {
      if (this.#accessAt(path) === "hidden") this.#links.set(path, target);
    }
    const mounts = new Map<string, Mount>();
    const missing = new Map<string, "read" | "deny">();
    const sources = new Map<string, BigIntStats>();
    const folders = new Set<string>();
    const examined = [...this.#rules].map(async ([path, rule]) => ({
      path,
      rule,
      ...(await this.#examine(path, rule)),
    }));
    for (const { path, rule, isGone, canBeCreated } of await Promise.all(examined)) {
      const { resolved, isFloating } = rule;
      const around = this.#accessAt(dirname(path));
      if (isGone) {
        const first = resolved.firstMissing ?? path;
        if (rule.access === "write" || !canBeCreated) continue;
        missing.set(first, missing.get(first) === "deny" ? "deny" : rule.access);
        this.#addFoldersAbove(first, folders);
        continue;
      }
      const mount = this.#mountFor(path, rule, around);
      if (!mount) continue;
      mounts.set(path, mount);
      if (resolved.stats) sources.set(path, resolved.stats);
      if (around === "write" && !isFloating) this.#addFoldersAbove(path, folders);
    }
    // A folder on the path to one of these could be renamed, and the next sandbox would not find it. A mount
    // point can't be renamed.
    for (const path of folders) {
      if (mounts.has(path)) continue;
      mounts.set(path, { kind: "bind", path, writable: true });
      const { stats } = await this.#resolver.resolve(path);
      if (stats) sources.set(path, stats);
    }
    const byDepth = [...mounts.values()].toSorted(
      (left, right) => depthOf(left.path) - depthOf(right.path) || (left.path < right.path ? -1 : 1),
    );
    return {
      root: this.#policy.root,
      network: this.#policy.network,
      links: [...this.#links].map(([path, target]) => ({ path, target })),
      mounts: byDepth,
      missing: [...missing].map(([path, access]) => ({ path, access })),
      sources,
    };
  }

  async #examine(
    path: string,
    { access, resolved }: Rule,
  ): Promise<{ isGone: boolean; canBeCreated: boolean }> {
    const isGone =
      resolved.stats === undefined || (access !== "write" && (await this.#resolver.isPlaceholder(path)));
    const first = resolved.firstMissing ?? path;
    const isRelevant = isGone && access !== "write" && this.#accessAt(dirname(first)) === "write";
    return { isGone, canBeCreated: isRelevant && (await isCreatable(first)) };
  }

  #mountFor(path: string, { access, resolved }: Rule, around: Effective): Mount | undefined {
    switch (access) {
      case "write":
        return { kind: "bind", path, writable: true };
      case "read":
        return around === "write" || around === "hidden"
          ? { kind: "bind", path, writable: false }
          : undefined;
      case "deny": {
        const passable = [...this.#rules].some(
          ([other, rule]) => rule.access === "write" && rule.resolved.stats && isWithin(other, path),
        );
        if (around === "denied" || (around === "hidden" && !passable)) return undefined;
        return resolved.stats?.isDirectory() === true
          ? { kind: "deny-folder", path, passable }
          : { kind: "deny-file", path };
      }
    }
  }

  #add(resolved: ResolvedPath, access: Access, isFloating = false): void {
    const known = this.#rules.get(resolved.real);
    if (known && STRENGTH[known.access] >= STRENGTH[access]) return;
    this.#rules.set(resolved.real, { access, resolved, isFloating });
  }

  /**
   * Handles a path that stops at a file or at a folder that its owner has closed: nothing exists below it
   * yet. In a writable place, both could be changed.
   */
  #addStopped(resolved: ResolvedPath, access: Access): void {
    if (this.#accessAt(resolved.real) !== "write") return;
    this.#add(resolved, resolved.stoppedBy === "permission" && access === "deny" ? "deny" : "read");
    if (this.#rules.get(resolved.real)?.access === "write")
      throw policyRefusal(`The writable root ${resolved.real} is not an accessible folder.`);
  }

  /** Adds the folders between a path and the root that makes it writable. */
  #addFoldersAbove(path: string, folders: Set<string>): void {
    for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) {
      if (this.#rules.get(folder)?.access === "write") return;
      folders.add(folder);
    }
  }

  #accessAt(path: string): Effective {
    let access: Effective = this.#policy.root === "none" ? "hidden" : this.#policy.root;
    for (const prefix of prefixesOf(path)) {
      const rule = this.#rules.get(prefix)?.access;
      if (rule === "deny") access = "denied";
      else if (rule === "write") access = "write";
      else if (rule === "read" && access !== "denied") access = "read";
    }
    return access;
  }
}

/**
 * Whether a path could be created. False in folders of other users that this user can't write to, because a
 * sandbox can't either.
 */
async function isCreatable(path: string): Promise<boolean> {
  const folder = dirname(path);
  const isWritable = await fs.access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
  return isWritable || (await fs.stat(folder)).uid === process.getuid?.();
}

function* prefixesOf(path: string): Generator<string> {
  for (let slash = path.indexOf("/", 1); slash !== -1; slash = path.indexOf("/", slash + 1)) {
    yield path.slice(0, slash);
  }
  yield path;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

function depthOf(path: string): number {
  return path.split("/").length;
}

function replaceable(link: string): Refusal {
  return policyRefusal(
    `The symbolic link ${link} is in a writable folder and could be replaced. ` +
      `Use the path of its target instead, or remove the link.`,
  );
}
