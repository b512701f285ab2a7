import { execFile } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { promisify } from "node:util";
import ignore, { type Ignore } from "ignore";
import { findGitFolder } from "./git-folder.ts";
import { isRecent, isSameVersion, toVersion, type FileVersion } from "./tree-entry.ts";

/** The text of all rules at one point in time, by the folder that they apply to. */
export type SavedRules = ReadonlyMap<string, string>;

/** Key of the rules in `info/exclude`. It ends with a slash, so it can't be a folder's name. */
const EXCLUDE = "exclude/";

interface RuleFile {
  /** Undefined if the file changed so recently that it must be read again. */
  readonly version: FileVersion | undefined;
  readonly text: string;
  readonly rules: Ignore;
}

/**
 * Determines which paths of a workspace are ignored, like git: by the `.gitignore` files in all folders, of which the deepest
 * match applies, and by git's `info/exclude`. Files that git tracks are never ignored.
 */
export class IgnoreRules {
  readonly #root: string;
  readonly #files = new Map<string, RuleFile>();
  readonly #verdicts = new Map<string, boolean>();
  #revision = 0;
  #trackedIndex: FileVersion | undefined;
  #tracked: readonly string[] = [];
  #saved: { readonly revision: number; readonly rules: SavedRules } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Tracked files that the rules would ignore, according to git. Empty if the workspace is not a repository. */
  get trackedFiles(): readonly string[] {
    return this.#tracked;
  }

  /** Changes with the rules. Results from another revision may be outdated. */
  get revision(): number {
    return this.#revision;
  }

  /** Returns the current rules. Later changes don't affect the result. */
  save(): SavedRules {
    if (this.#saved?.revision !== this.#revision) {
      const rules = new Map([...this.#files].map(([folder, { text }]) => [folder, text]));
      this.#saved = { revision: this.#revision, rules };
    }
    return this.#saved.rules;
  }

  /** Reads the rules again if they have changed. */
  async refresh(): Promise<void> {
    const git = findGitFolder(this.#root);
    if (git) this.#load(EXCLUDE, git.exclude);
    else this.#remove(EXCLUDE);
    const index = git && readVersion(git.index);
    if (index === undefined || (this.#trackedIndex && isSameVersion(index, this.#trackedIndex))) return;
    this.#trackedIndex = index;
    this.#tracked = await listTrackedIgnored(this.#root);
  }

  /** Loads a folder's `.gitignore`. Called before the folder's entries are tested. */
  enterFolder(folder: string, hasRules: boolean): void {
    if (hasRules) this.#load(folder, join(this.#root, folder, ".gitignore"));
    else this.#remove(folder);
  }

  /** Whether a path is ignored. A folder's path must end with a slash. */
  isIgnored(path: string): boolean {
    if (this.#files.size === 0) return false;
    const known = this.#verdicts.get(path);
    if (known !== undefined) return known;
    const verdict = isIgnoredBy((folder) => this.#files.get(folder)?.rules, path);
    this.#verdicts.set(path, verdict);
    return verdict;
  }

  #load(folder: string, path: string): void {
    const version = readVersion(path);
    const loaded = this.#files.get(folder);
    if (version === undefined) {
      this.#remove(folder);
      return;
    }
    if (loaded?.version && isSameVersion(loaded.version, version)) return;
    const text = readRules(path);
    this.#files.set(folder, {
      version: isRecent(version) ? undefined : version,
      text,
      rules: parseRules(text),
    });
    this.#forgetVerdicts();
  }

  #remove(key: string): void {
    if (this.#files.delete(key)) this.#forgetVerdicts();
  }

  #forgetVerdicts(): void {
    this.#verdicts.clear();
    this.#revision += 1;
  }
}

/**
 * Returns a test for whether saved rules ignore a path or one of its parent folders. The current rules may differ, even because
 * of the changes that are being undone.
 */
export function createIgnoreTest(saved: SavedRules): (path: string, isFolder: boolean) => boolean {
  const parsed = new Map([...saved].map(([folder, text]) => [folder, parseRules(text)]));
  const isIgnored = (path: string): boolean => isIgnoredBy((folder) => parsed.get(folder), path);
  return (path, isFolder) => [...ancestorsOf(path), isFolder ? `${path}/` : path].some(isIgnored);
}

function isIgnoredBy(rulesOf: (folder: string) => Ignore | undefined, path: string): boolean {
  let folder = parentOf(path);
  for (;;) {
    const result = rulesOf(folder)?.test(folder === "" ? path : path.slice(folder.length + 1));
    if (result?.ignored) return true;
    if (result?.unignored) return false;
    if (folder === "") break;
    folder = parentOf(folder);
  }
  return rulesOf(EXCLUDE)?.ignores(path) ?? false;
}

/** Returns a path's parent folders, each with a trailing slash. */
function ancestorsOf(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, depth) => `${names.slice(0, depth + 1).join("/")}/`);
}

function parseRules(text: string): Ignore {
  return ignore({ allowRelativePaths: false }).add(text);
}

function parentOf(path: string): string {
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  const parent = dirname(trimmed);
  return parent === "." ? "" : parent;
}

/** Reads a rules file. Rules that can't be read don't apply, as in git. */
function readRules(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Returns undefined if there is no such file, or if part of its path is not a folder. */
function readVersion(path: string): FileVersion | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? toVersion(stats) : undefined;
  } catch {
    return undefined;
  }
}

const LIST_TRACKED_IGNORED =
  "-c core.fsmonitor=false ls-files --cached --ignored --exclude-standard -z".split(" ");

/**
 * Returns git's environment. An agent may have written the repository's settings, so everything in them that runs programs is
 * disabled: the file system monitor (above) and transports, through which git fetches missing objects.
 */
function gitEnvironment(): NodeJS.ProcessEnv {
  // Inside a git hook, these variables refer to another repository.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return {
    ...Object.fromEntries(own),
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_OPTIONAL_LOCKS: "0",
  };
}

/** Lists tracked files that the rules ignore. Without git, no file counts as tracked. */
async function listTrackedIgnored(root: string): Promise<readonly string[]> {
  try {
    const { stdout } = await promisify(execFile)("git", LIST_TRACKED_IGNORED, {
      cwd: root,
      env: gitEnvironment(),
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout.split("\0").filter((path) => path !== "" && isInside(path));
  } catch {
    return [];
  }
}

/** Whether a path is inside the workspace. A forged index can contain paths outside it. */
function isInside(path: string): boolean {
  return (
    posix.normalize(path) === path && !posix.isAbsolute(path) && path !== ".." && !path.startsWith("../")
  );
}
