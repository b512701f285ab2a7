import { CodexError } from "../errors.ts";
import { type FindWorld, pathRules, realWorld, variable } from "./find-world.ts";
import { installedCodex } from "./installed-codex.ts";
import { fileNames, searchPath } from "./search-path.ts";

export interface FindCodexOptions {
  /** The binary to use; nothing else is looked for then. A name without a folder is looked up on PATH. */
  readonly path?: string | undefined;
  /** The environment whose `CODEX_BIN` and `PATH` count; this process's own unless told. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Where a codex was found: given, `$CODEX_BIN`, the installed npm package, or on `PATH`. */
export type CodexSource = "option" | "env" | "package" | "path";

export interface FoundCodex {
  readonly path: string;
  readonly source: CodexSource;
}

/**
 * Finds the codex to run: the path that is given, `$CODEX_BIN`, the native binary of the installed `@openai/codex`,
 * `PATH`. Throws a CodexError `codex_not_found` that lists every place it looked at.
 */
export function findCodex(options: FindCodexOptions = {}): FoundCodex {
  return findCodexIn(realWorld(options.env), options.path);
}

/** The same in any world. */
export function findCodexIn(world: FindWorld, path?: string): FoundCodex {
  if (path !== undefined) return { path: named(world, path, "The codexPath option"), source: "option" };
  const fromEnv = variable(world, "CODEX_BIN");
  if (fromEnv) return { path: named(world, fromEnv, "$CODEX_BIN"), source: "env" };

  const looked = ["$CODEX_BIN is not set"];
  for (const base of world.bases) {
    const installed = installedCodex(world, base);
    if ("path" in installed) return { path: installed.path, source: "package" };
    if (!looked.includes(installed.looked)) looked.push(installed.looked);
  }
  const onPath = searchPath(world, "codex");
  if (onPath !== undefined) return { path: behindShim(world, onPath), source: "path" };
  looked.push(
    `PATH has no ${fileNames(world, "codex").join(", ")}: ${variable(world, "PATH") || "it is empty"}`,
  );
  throw new CodexError(
    "codex_not_found",
    `Found no codex to run. Install one (npm install @openai/codex), set $CODEX_BIN to a binary, or pass the codexPath option. Looked here:\n${looked
      .map((place) => `- ${place}`)
      .join("\n")}`,
  );
}

/** A codex that someone named is the one to use, or an error: running another would hide the mistake. */
function named(world: FindWorld, path: string, who: string): string {
  const rules = pathRules(world);
  if (path.trim() === "") throw notFound(`${who} is empty.`);
  if (!path.includes("/") && !path.includes(rules.sep)) {
    // As a shell does: a file of that name in the folder at hand is not meant, and might be a stranger's.
    const onPath = searchPath(world, path);
    if (onPath !== undefined) return behindShim(world, onPath);
    throw notFound(`${who} names ${path}, which is not on PATH. For a file here write .${rules.sep}${path}.`);
  }
  const full = rules.resolve(world.cwd, path);
  const there = world.look(full);
  if (there === "executable") return behindShim(world, full);
  const trouble = {
    folder: `is a folder: ${full}. It must be the codex binary itself.`,
    not_executable: `is not executable: ${full}. Run: chmod +x ${full}`,
    missing: `names a file that does not exist: ${full}${path.startsWith("~") ? " (only a shell expands ~)" : ""}.`,
  }[there];
  throw notFound(`${who} ${trouble}`);
}

/**
 * npm's `codex.cmd` lies beside the packages that it starts (global) or one folder below them (`.bin`). The binary
 * behind it needs neither cmd.exe nor its quoting rules.
 */
function behindShim(world: FindWorld, path: string): string {
  if (world.platform !== "win32" || !/[\\/]codex\.(?:cmd|bat)$/i.test(path)) return path;
  const installed = installedCodex(world, path);
  return "path" in installed ? installed.path : path;
}

function notFound(what: string): CodexError {
  return new CodexError("codex_not_found", `${what} Codex was not looked for elsewhere.`);
}
