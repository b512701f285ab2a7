import { execFile } from "node:child_process";
import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import ignore, { type Ignore } from "ignore";
import { isRecent, isSameVersion, toVersion, type FileVersion } from "./tree-entry.ts";

interface RuleFile {
  /** Undefined if the file must be read again, because it has just changed. */
  readonly version: FileVersion | undefined;
  readonly rules: Ignore;
}

/**
 * Decides which paths of a workspace are ignored, as git does: `.gitignore` files in every folder, the deepest one that
 * matches decides, and `.git/info/exclude`. Files that git tracks are never ignored.
 */
export class IgnoreRules {
  readonly #root: string;
  readonly #files = new Map<string, RuleFile>();
  readonly #verdicts = new Map<string, boolean>();
  #revision = 0;
  #trackedIndex: FileVersion | undefined;
  #tracked: readonly string[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  /** Tracked files that the rules would ignore. Found by git, if the workspace is a repository. */
  get trackedFiles(): readonly string[] {
    return this.#tracked;
  }

  /** Changes with the rules. Verdicts of another revision may be wrong. */
  get revision(): number {
    return this.#revision;
  }

  /** Reads the rules again if they have changed. */
  async refresh(): Promise<void> {
    this.#load("", join(".git", "info", "exclude"));
    const index = readVersion(join(this.#root, ".git", "index"));
    if (index === undefined || (this.#trackedIndex && isSameVersion(index, this.#trackedIndex))) return;
    this.#trackedIndex = index;
    this.#tracked = await listTrackedIgnored(this.#root);
  }

  /** Takes a folder's `.gitignore` into account. Called before the entries of the folder are tested. */
  enterFolder(folder: string, hasRules: boolean): void {
    if (hasRules) this.#load(folder, join(folder, ".gitignore"));
    else this.#remove(folder === "" ? "/" : folder);
  }

  /** Whether a path is ignored. Folders end with a slash. */
  isIgnored(path: string): boolean {
    if (this.#files.size === 0) return false;
    const known = this.#verdicts.get(path);
    if (known !== undefined) return known;
    const verdict = this.#test(path);
    this.#verdicts.set(path, verdict);
    return verdict;
  }

  #test(path: string): boolean {
    let folder = parentOf(path);
    for (;;) {
      const rules = this.#files.get(folder === "" ? "/" : folder)?.rules;
      const result = rules?.test(folder === "" ? path : path.slice(folder.length + 1));
      if (result?.ignored) return true;
      if (result?.unignored) return false;
      if (folder === "") break;
      folder = parentOf(folder);
    }
    return this.#files.get("exclude")?.rules.ignores(path) ?? false;
  }

  #load(folder: string, file: string): void {
    const key = file.endsWith("exclude") ? "exclude" : folder === "" ? "/" : folder;
    const path = join(this.#root, file);
    const version = readVersion(path);
    const loaded = this.#files.get(key);
    if (version === undefined) {
      this.#remove(key);
      return;
    }
    if (loaded?.version && isSameVersion(loaded.version, version)) return;
    this.#files.set(key, {
      version: isRecent(version) ? undefined : version,
      rules: ignore({ allowRelativePaths: false }).add(readRules(path)),
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

function parentOf(path: string): string {
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  const parent = dirname(trimmed);
  return parent === "." ? "" : parent;
}

/** Rules that can't be read do not apply, as in git. */
function readRules(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function readVersion(path: string): FileVersion | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? toVersion(stats) : undefined;
}

/** Without git, or outside a repository, no file is tracked. */
async function listTrackedIgnored(root: string): Promise<readonly string[]> {
  if (!existsSync(join(root, ".git")) || !statSync(join(root, ".git")).isDirectory()) return [];
  const words = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"];
  try {
    const { stdout } = await promisify(execFile)("git", words, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
    return stdout.split("\0").filter((path) => path !== "");
  } catch {
    return [];
  }
}
