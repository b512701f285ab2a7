import type { EnvPolicy } from "../wire/process-params.ts";
import { NEVER_PASSED, policyKeeps } from "./child-env.ts";
import type { ChildSpec } from "./child.ts";
import { OF_EVERY_SHELL, type ShellState } from "./shell-state.ts";

type Env = Readonly<Record<string, string>>;

/** The effects of a login shell's start-up files, which can be applied without running them. */
export interface ShellSnapshot {
  readonly restore: string;
  /** The environment before the start-up files ran. */
  readonly before: Env;
  /** Variables that they changed. Undefined: they unset the variable. */
  readonly changes: ReadonlyMap<string, string | undefined>;
}

/** A variable can have 128 KiB on Linux, and a UTF-16 unit takes at most 3 bytes. */
const PIECE_UNITS = 40_000;

/** The longest argument on Linux, including the terminating NUL. */
const ARGUMENT_BYTES = 128 * 1024;

const PIECE_NAME = "__CODEXKIT_SHELL_STATE_";

/** Bash would run this file before the script. The variable is restored for the script's own children. */
const STARTUP_FILE = "BASH_ENV";

/**
 * Computes the differences between a shell's state and the environment that it was started with, filtered by
 * the policy.
 */
export function takeSnapshot(
  { definitions, settings, env, exportedFunctions }: ShellState,
  before: Env,
  policy: EnvPolicy | null | undefined,
): ShellSnapshot {
  const passes = (name: string): boolean => !NEVER_PASSED.includes(name) && policyKeeps(name, policy);
  const changes = new Map<string, string | undefined>();
  for (const [name, value] of Object.entries(env)) {
    if (before[name] !== value && passes(name)) changes.set(name, value);
  }
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(env, name) && !name.startsWith("BASH_FUNC_") && !OF_EVERY_SHELL.has(name))
      changes.set(name, undefined);
  }
  const exports = exportedFunctions
    .filter((name) => passes(`BASH_FUNC_${name}%%`))
    .map((name) => `\\builtin export -f -- ${quote(name)}`);
  return { restore: [definitions, ...exports, settings].join("\n"), before, changes };
}

/**
 * Runs the same command in a shell that restores the state from its environment instead of running its
 * start-up files. Nothing is written to disk, and sandboxes and PTYs need no changes. The shell unsets the
 * variables before the script begins.
 *
 * @param spec The child, possibly inside a sandbox: its argv ends with the shell's.
 * @param shellArgv `[shell, "-lc", script, …]`.
 */
export function withSnapshot(
  spec: ChildSpec,
  shellArgv: readonly string[],
  snapshot: ShellSnapshot,
): ChildSpec {
  const env: Record<string, string> = { ...spec.env };
  for (const [name, value] of snapshot.changes) {
    // A value other than the one that the start-up files found was set by this request.
    if (Object.hasOwn(env, name) && env[name] !== snapshot.before[name]) continue;
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  for (const name of Object.keys(env)) if (name.startsWith("BASH_FUNC_")) delete env[name];
  const startup = env[STARTUP_FILE];
  delete env[STARTUP_FILE];
  const state =
    startup === undefined
      ? snapshot.restore
      : `\\builtin export ${STARTUP_FILE}=${quote(startup)}\n${snapshot.restore}`;
  const names = pieces(state).map((piece, index) => {
    const name = `${PIECE_NAME}${index}`;
    env[name] = piece;
    return name;
  });
  // Expanded first, because the state unsets these variables. On a separate line, because aliases apply from the next line on.
  const restore = `eval "unset ${names.join(" ")}\n${names.map((name) => `\${${name}}`).join("")}" >/dev/null 2>&1 || printf 'failed to restore shell snapshot\\n' >&2`;
  const script = `${restore}\n${shellArgv[2] ?? ""}`;
  // A script that barely fits must not fail because of the code added before it.
  if (Buffer.byteLength(script) >= ARGUMENT_BYTES) return spec;
  return { ...spec, env, argv: replaceShell(spec.argv, shellArgv, "-c", script) };
}

/** Returns the argv with another flag and another script for the shell at its end. */
export function replaceShell(
  argv: readonly [string, ...string[]],
  shellArgv: readonly string[],
  flag: string,
  script: string,
): readonly [string, ...string[]] {
  const start = argv.length - shellArgv.length;
  return argv.with(start + 1, flag).with(start + 2, script) as [string, ...string[]];
}

function pieces(text: string): string[] {
  const found: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + PIECE_UNITS, text.length);
    // Don't split a surrogate pair.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
    found.push(text.slice(start, end));
    start = end;
  }
  return found;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
