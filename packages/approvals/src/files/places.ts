import { fixedFolder, isAbsolute, isInside, resolvePath } from "./path.ts";
import {
  belowHome,
  isCredential,
  isHarmlessDevice,
  isHomeFolder,
  isProfile,
  isProtectedSegment,
  isSystemFolder,
  isSystemOwn,
  SOME_HOME,
} from "./sensitive-paths.ts";

/** What a path is, for somebody who wants to write there. */
export type Place =
  | "workspace"
  | "temp"
  /** `.git`, `.codex` and `.agents`. */
  | "protected"
  | "credentials"
  /** Shell profiles, cron, systemd, log-in items. */
  | "profile"
  | "device"
  /** `/dev/null` and its like. */
  | "sink"
  | "system"
  | "outside"
  /** Only running the command would tell. */
  | "unknown";

/** What the file system says about paths, looked up beforehand so that the judgement itself does no I/O. */
export interface PathFacts {
  /** Absolute path → where it really leads. `null`: it could not be followed (a loop, no permission). */
  readonly real: Readonly<Record<string, string | null>>;
  /** The volume takes `A` and `a` for the same name. */
  readonly caseInsensitive?: boolean;
}

export interface PlacesOptions {
  readonly roots: readonly string[];
  readonly temp: readonly string[];
  readonly home: string | undefined;
  readonly cwd: string;
  readonly facts: PathFacts | undefined;
}

/** Knows the workspace, and says of any path what it is. Remembers which paths were asked about. */
export class Places {
  readonly home: string;
  readonly cwd: string;
  readonly root: string;
  /** Every path that mattered: what a resolver has to look up. */
  readonly touched = new Set<string>();
  readonly #facts: PathFacts | undefined;
  readonly #lexicalRoots: readonly string[];
  readonly #roots: readonly string[];
  readonly #temp: readonly string[];

  constructor({ roots, temp, home, cwd, facts }: PlacesOptions) {
    this.#facts = facts;
    this.home = home === undefined ? SOME_HOME : resolvePath("/", home);
    this.cwd = resolvePath("/", cwd);
    this.#lexicalRoots = roots.map((root) => resolvePath("/", root));
    this.root = this.#lexicalRoots[0] ?? this.cwd;
    this.#roots = this.#lexicalRoots.flatMap((root) => this.#bothSpellings(root));
    this.#temp =
      facts === undefined ? temp : temp.flatMap((folder) => this.#bothSpellings(resolvePath("/", folder)));
  }

  /** `path` seen from a folder, by its text. */
  absolute(path: string, base: string): string {
    return isAbsolute(path) ? resolvePath("/", path) : resolvePath(base, path);
  }

  /** Where a write to this absolute path really lands. */
  placeOf(path: string): Place {
    const wild = fixedFolder(path);
    // The text after a wildcard or an unknown can't be looked up; the folder before it can.
    const real = this.#real(wild);
    if (real === undefined) return "unknown";
    const full = wild === path ? real : real + path.slice(wild === "/" ? 0 : wild.length);
    if (path.includes("\u0000") && !this.#isPinned(path)) return "unknown";
    return this.#judge(this.#fold(full));
  }

  /** Where a path leads, or itself when that is not known. */
  realPath(path: string): string {
    return path.includes("\u0000") ? path : (this.#real(path) ?? path);
  }

  isCredential(path: string): boolean {
    const real = this.#real(path);
    return isCredential(path, this.home) || (real !== undefined && isCredential(real, this.home));
  }

  /** The workspace itself, or a folder above it. */
  holdsWorkspace(path: string): boolean {
    return this.#roots.some((root) => isInside(this.#fold(path), this.#fold(root)));
  }

  inWorkspace(path: string): boolean {
    const real = this.#real(path);
    return real !== undefined && this.#roots.some((root) => isInside(this.#fold(root), this.#fold(real)));
  }

  inTemp(path: string): boolean {
    return this.#temp.some((folder) => isInside(this.#fold(folder), this.#fold(path)));
  }

  /** `/`, a folder right below it, a home folder, a system folder: what no command may delete whole. */
  isPrecious(path: string): boolean {
    const folder = this.#fold(fixedFolder(path));
    const wild = folder !== this.#fold(path);
    if (this.inTemp(folder)) return false;
    if (this.#roots.some((root) => isInside(this.#fold(root), folder))) return false;
    if (this.holdsWorkspace(folder) && !wild) return true;
    if (isSystemFolder(folder)) return true;
    const below = belowHome(folder, this.home);
    if (below !== undefined) return below === "" || isHomeFolder(below) || isCredential(folder, this.home);
    // A disk that is mounted: `/mnt/data`, `/Volumes/Backup`.
    return (
      folder.split("/").length <= 2 || /^\/(?:mnt|cygdrive|media(?:\/[^/]+)?|volumes)\/[^/]+$/i.test(folder)
    );
  }

  #judge(path: string): Place {
    if (isHarmlessDevice(path)) return path.startsWith("/dev/shm") ? "temp" : "sink";
    if (path.startsWith("/dev/")) return "device";
    if (isProfile(path, this.home)) return "profile";
    if (isCredential(path, this.home)) return "credentials";
    for (const root of this.#roots) {
      const folded = this.#fold(root);
      if (!isInside(folded, path)) continue;
      const inner = path.slice(folded.length).split("/");
      return inner.some(isProtectedSegment) ? "protected" : "workspace";
    }
    if (path.split("/").some(isProtectedSegment)) return "protected";
    if (this.#temp.some((folder) => isInside(this.#fold(folder), path))) return "temp";
    return isSystemOwn(path) ? "system" : "outside";
  }

  /** An unknown piece can climb out with `..` unless it is only part of a name. */
  #isPinned(path: string): boolean {
    return path.split("/").every((segment) => !segment.includes("\u0000") || /[\w-]/.test(segment));
  }

  #real(path: string): string | undefined {
    this.touched.add(path);
    if (this.#facts === undefined) return path;
    const real = this.#facts.real[path];
    if (real === null) return undefined;
    return real === undefined ? path : resolvePath("/", real);
  }

  /** A root counts under its own name and under the one that links lead to. */
  #bothSpellings(folder: string): string[] {
    const real = this.#real(folder) ?? folder;
    return real === folder ? [folder] : [folder, real];
  }

  #fold(path: string): string {
    return this.#facts?.caseInsensitive === true ? path.toLowerCase() : path;
  }
}
