import { posix } from "node:path";
import { widenBrackets } from "./glob.ts";
import { baseName, fixedFolder, hasWildcard, isInside, resolvePath, withoutEndSlashes } from "./path.ts";
import { protectionOf, type Protection } from "./protected-names.ts";
import {
  belowHome,
  HARMLESS_DEVICE,
  holdsCredentials,
  HOME_FOLDER,
  isCredential,
  isProfile,
  isSystemFolder,
  isSystemOwn,
  matchesCredential,
  SOME_HOME,
} from "./sensitive-paths.ts";

/** Resolved paths, looked up in advance so that `evaluatePolicy` does no I/O. */
export interface PathFacts {
  /**
   * The target of each absolute path (as it is used, including `..`) once all links are followed. `null` if it could not be
   * followed (a loop, no permission, a process link).
   */
  readonly real: Readonly<Record<string, string | null>>;
  /** The absolute paths that match each absolute file name pattern. `null` if there are too many to list. */
  readonly matches?: Readonly<Record<string, readonly string[] | null>> | undefined;
  /** Whether the volume treats `A` and `a` as the same name. */
  readonly caseInsensitive?: boolean | undefined;
}

/**
 * The kind of a path, for a command that writes there. Files may be created in a `temp-folder`, but it may not be moved or
 * deleted. A `sink` is `/dev/null` or similar. The target of an `unknown` path is known only at run time.
 */
export type PathKind = Protection | OpenKind | RefusedKind | "outside" | "unknown";
type OpenKind = "workspace" | "temp" | "temp-folder" | "sink";
type RefusedKind = "credentials" | "device" | "profile" | "system";

export interface WorkspaceOptions {
  readonly roots: readonly string[];
  readonly temp: readonly string[];
  readonly home: string | undefined;
  readonly cwd: string;
  readonly facts: PathFacts | undefined;
}

/** The target of a path, with its last link followed (`real`) and without (`entry`). Undefined if it is not known. */
export interface Location {
  readonly real: string | undefined;
  readonly entry: string | undefined;
}

/** Classifies paths by their targets in and around the workspace. Records which paths and patterns were looked up. */
export class Workspace {
  readonly home: string;
  readonly cwd: string;
  readonly root: string;
  /** If there are facts: every path that the evaluation needed, as it is used. `resolvePaths` looks these paths up. */
  readonly touched = new Set<string>();
  readonly patterns = new Set<string>();
  readonly #facts: PathFacts | undefined;
  readonly #roots: readonly string[];
  readonly #temp: readonly string[];

  constructor({ roots, temp, home, cwd, facts }: WorkspaceOptions) {
    this.#facts = facts;
    this.home = home === undefined ? SOME_HOME : resolvePath("/", home);
    this.cwd = cwd === "" ? "/" : cwd;
    this.#roots = roots.flatMap((root) => this.#spellingsOf(root));
    this.root = this.#roots[0] ?? this.cwd;
    const temps = facts === undefined ? temp : temp.flatMap((folder) => this.#spellingsOf(folder));
    this.#temp = temps.map((folder) => this.#fold(folder));
  }

  /** Makes a path absolute. Keeps `..`, because only the file system knows its target. */
  absolute(path: string, folder: string): string {
    return path.startsWith("/") ? path : `${folder}/${path}`;
  }

  /** The names that a pattern matches, as the shell would write them. Undefined if they are not known. */
  matchesOf(pattern: string, folder: string): readonly string[] | undefined {
    // Shells differ in what brackets and `**` match.
    if (this.#facts === undefined || pattern.includes("[") || pattern.includes("**")) return undefined;
    const absolute = this.absolute(pattern, folder);
    this.patterns.add(absolute);
    const found = this.#facts.matches?.[absolute] ?? undefined;
    return pattern.startsWith("/") ? found : found?.map((path) => path.slice(folder.length + 1));
  }

  /**
   * The existing paths that a pattern could match in any shell: a bracket matches the rest of its name, and `**` any number of
   * folders. Undefined if they were not looked up, null if there are too many.
   */
  candidatesOf(absolute: string): readonly string[] | null | undefined {
    if (this.#facts === undefined) return undefined;
    const pattern = widenBrackets(absolute);
    // The target of `..` after a wildcard depends on each match.
    if (pattern.slice(pattern.search(/[*?]/)).split("/").includes("..")) return null;
    this.patterns.add(pattern);
    return this.#facts.matches?.[pattern];
  }

  /** @param isPattern Whether wildcards in the path are expanded by the shell. */
  locate(absolute: string, isPattern = false): Location {
    if (isPattern && hasWildcard(absolute)) return this.#locatePattern(absolute);
    const real = this.#follow(absolute);
    // Without facts, no link was followed.
    if (real === absolute && this.#facts === undefined) return { real, entry: real };
    const trimmed = withoutEndSlashes(absolute);
    const name = baseName(trimmed);
    if (name === "" || name === "." || name === "..") return { real, entry: real };
    const parent = this.#follow(posix.dirname(trimmed));
    return { real, entry: parent === undefined ? undefined : `${withoutEndSlashes(parent)}/${name}` };
  }

  /** Follows the part before the first wildcard. Matches below it are judged by the pattern. */
  #locatePattern(absolute: string): Location {
    const parent = fixedFolder(absolute);
    const folder = this.#follow(parent);
    const rest = absolute.slice(withoutEndSlashes(parent).length + 1);
    if (folder === undefined || rest.split("/").includes("..")) return { real: undefined, entry: undefined };
    const path = `${withoutEndSlashes(folder)}/${rest}`;
    return { real: path, entry: path };
  }

  /** The kind of a location for a command that changes it: the stricter of the target and the directory entry. */
  kindOf({ real, entry }: Location): PathKind {
    if (real === undefined || entry === undefined) return "unknown";
    const kind = this.#judge(real);
    if (real === entry || !isOpen(kind)) return kind;
    const own = this.#judge(entry);
    return isOpen(own) ? kind : own;
  }

  isCredential(path: string): boolean {
    return isCredential(path, this.home) || (hasWildcard(path) && matchesCredential(path, this.home));
  }

  holdsCredentials(folder: string, withHidden: boolean): boolean {
    return holdsCredentials(folder, this.home, withHidden);
  }

  /** With facts, a folder and its parents up to a root of the workspace. Outside all roots, up to `/`. */
  belowRoots(folder: string): readonly string[] {
    const folders: string[] = [];
    let { real: path = "/" } = this.#facts === undefined ? {} : this.locate(folder);
    for (; path !== "/" && !this.#roots.includes(path); path = posix.dirname(path)) folders.push(path);
    return folders;
  }

  holds(path: string): boolean {
    const { real } = this.locate(path);
    return real !== undefined && this.inWorkspace(real);
  }

  inWorkspace(path: string): boolean {
    return this.#roots.some((root) => isInside(this.#fold(root), this.#fold(path)));
  }

  holdsWorkspace(path: string): boolean {
    return this.#roots.some((root) => isInside(this.#fold(path), this.#fold(root)));
  }

  /** Whether no command may delete all of a path: `/`, a folder directly below it, a home folder or a system folder. */
  isPrecious(path: string): boolean {
    const folder = this.#fold(fixedFolder(path));
    // Everything in a temporary folder may be deleted, but not the folder itself.
    if (hasWildcard(path) && this.#temp.includes(folder)) return false;
    if (this.inWorkspace(folder)) return false;
    if (this.holdsWorkspace(folder) || isSystemFolder(folder)) return true;
    const below = belowHome(folder, this.home);
    if (below !== undefined)
      return below === "" || HOME_FOLDER.test(below) || isCredential(folder, this.home);
    if (this.#inTemp(folder)) return false;
    // A mounted disk: `/mnt/data`, `/Volumes/Backup`.
    return (
      folder.split("/").length <= 2 || /^\/(?:mnt|cygdrive|media(?:\/[^/]+)?|volumes)\/[^/]+$/i.test(folder)
    );
  }

  #judge(path: string): PathKind {
    const folded = this.#fold(path);
    if (HARMLESS_DEVICE.test(path)) return "sink";
    if (path.startsWith("/dev/") && !path.startsWith("/dev/shm/")) return "device";
    for (const root of this.#roots) {
      const foldedRoot = this.#fold(root);
      if (!isInside(foldedRoot, folded)) continue;
      const segments = folded.slice(foldedRoot.length).split("/").slice(1);
      return protectionOf(segments) ?? (reachesRepository(segments) ? "guarded" : "workspace");
    }
    if (isProfile(path, this.home)) return "profile";
    if (isCredential(path, this.home)) return "credentials";
    const protection = protectionOf(path.split("/").slice(1));
    if (protection === "owned") return "owned";
    // A home folder below a temporary one is still a home folder.
    if (isInside(this.#fold(this.home), folded)) return "outside";
    if (this.#temp.includes(folded)) return "temp-folder";
    if (this.#inTemp(folded)) return protection ?? "temp";
    return isSystemOwn(path) ? "system" : "outside";
  }

  #inTemp(folded: string): boolean {
    return this.#temp.some((folder) => isInside(folder, folded) && folded !== folder);
  }

  #follow(absolute: string): string | undefined {
    const resolved = resolvePath("/", absolute);
    if (this.#facts === undefined) return isProcessLink(resolved) ? undefined : resolved;
    this.touched.add(absolute);
    return isProcessLink(resolved) ? undefined : (this.#facts.real[absolute] ?? undefined);
  }

  /** A root counts under its own path and under its resolved path. */
  #spellingsOf(folder: string): string[] {
    const plain = resolvePath("/", folder);
    if (this.#facts === undefined) return [plain];
    this.touched.add(plain);
    return [...new Set([plain, this.#facts.real[plain] ?? plain])];
  }

  #fold(path: string): string {
    return this.#facts?.caseInsensitive === true ? path.toLowerCase() : path;
  }
}

/**
 * `**` matches everything below a folder, hidden or not. Below a root that includes `.git`, where only a file with an ordinary
 * extension or one exact name is certain not to be git's own.
 */
function reachesRepository(segments: readonly string[]): boolean {
  if (segments[0] !== "**") return false;
  const name = segments.at(-1) ?? "**";
  return name === "**" || (/[*?[]/.test(name) && !/\.[a-z]\w*$/i.test(name));
}

function isOpen(kind: PathKind): boolean {
  return /^(?:workspace|temp|temp-folder|sink)$/.test(kind);
}

/** `/proc/self/cwd` and similar links have a different target for each process, so a lookup here is meaningless. */
function isProcessLink(resolved: string): boolean {
  return /^\/(?:proc\/(?:self|thread-self|\d+)\/(?:cwd|root|exe|fd|fdinfo|map_files|task|ns)|dev\/fd)(?:\/|$)/.test(
    resolved,
  );
}
