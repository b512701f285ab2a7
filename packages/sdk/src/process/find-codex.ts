import { CodexError } from "../errors.ts";
import { type Machine, pathModule, localMachine, readVariable } from "./machine.ts";
import { findInstalledCodex } from "./find-installed-codex.ts";
import { listFileNames, searchPath } from "./search-path.ts";

export interface FindCodexOptions {
  /** The binary to use. No other is searched for. A name without a folder is looked up on PATH. */
  readonly path?: string | undefined;
  /** The environment to read `CODEX_BIN` and `PATH` from. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Where codex was found: the `path` option, `$CODEX_BIN`, the installed npm package, or `PATH`. */
export type CodexSource = "option" | "env" | "package" | "path";

export interface FoundCodex {
  readonly path: string;
  readonly source: CodexSource;
}

/**
 * Finds the codex binary: the `path` option, `$CODEX_BIN`, the native binary of the installed `@openai/codex`, then `PATH`.
 * Throws a `CodexError` with code `codex_not_found` that lists all searched locations.
 */
export function findCodex(options: FindCodexOptions = {}): FoundCodex {
  return findCodexIn(localMachine(options.env), options.path);
}

/** Finds the codex binary on any machine. */
export function findCodexIn(machine: Machine, path?: string): FoundCodex {
  if (path !== undefined)
    return { path: resolveNamed(machine, path, "The codexPath option"), source: "option" };
  const fromEnv = readVariable(machine, "CODEX_BIN");
  if (fromEnv) return { path: resolveNamed(machine, fromEnv, "$CODEX_BIN"), source: "env" };

  const searched = ["$CODEX_BIN is not set"];
  for (const base of machine.bases) {
    const installed = findInstalledCodex(machine, base);
    if ("path" in installed) return { path: installed.path, source: "package" };
    if (!searched.includes(installed.problem)) searched.push(installed.problem);
  }
  const onPath = searchPath(machine, "codex");
  if (onPath !== undefined) return { path: resolveShim(machine, onPath), source: "path" };
  searched.push(
    `PATH has no ${listFileNames(machine, "codex").join(", ")}: ${readVariable(machine, "PATH") || "it is empty"}`,
  );
  throw new CodexError(
    "codex_not_found",
    `Could not find codex. Install it (npm install @openai/codex), set $CODEX_BIN to a binary, or pass the codexPath option. Searched:\n${searched
      .map((problem) => `- ${problem}`)
      .join("\n")}`,
  );
}

/** Resolves a codex that the caller named. Throws if it can't be run, because running another one would hide the mistake. */
function resolveNamed(machine: Machine, path: string, who: string): string {
  const rules = pathModule(machine);
  if (path.trim() === "") throw notFound(`${who} is empty.`);
  if (!path.includes("/") && !path.includes(rules.sep)) {
    // As in a shell, a bare name never refers to a file in the working directory, which may be untrusted.
    const onPath = searchPath(machine, path);
    if (onPath !== undefined) return resolveShim(machine, onPath);
    throw notFound(`${who} names ${path}, which is not on PATH. For a file here write .${rules.sep}${path}.`);
  }
  const full = rules.resolve(machine.cwd, path);
  const found = machine.inspectPath(full);
  if (found === "executable") return resolveShim(machine, full);
  const problem = {
    folder: `is a folder: ${full}. It must be the codex binary itself.`,
    not_executable: `is not executable: ${full}. Run: chmod +x ${full}`,
    missing: `names a file that does not exist: ${full}${path.startsWith("~") ? " (only a shell expands ~)" : ""}.`,
  }[found];
  throw notFound(`${who} ${problem}`);
}

/**
 * Returns the binary that npm's `codex.cmd` starts, which needs neither cmd.exe nor its quoting rules. The shim is next to the
 * packages (global) or one folder below them (`.bin`).
 */
function resolveShim(machine: Machine, path: string): string {
  if (machine.platform !== "win32" || !/[\\/]codex\.(?:cmd|bat)$/i.test(path)) return path;
  const installed = findInstalledCodex(machine, path);
  return "path" in installed ? installed.path : path;
}

function notFound(what: string): CodexError {
  return new CodexError("codex_not_found", `${what} No other location was searched.`);
}
