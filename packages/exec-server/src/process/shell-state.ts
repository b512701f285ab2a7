import { randomUUID } from "node:crypto";

/** The state of a login shell after its start-up files: shell code that restores it, and its environment. */
export interface ShellState {
  /** Functions, and options that affect how the rest is parsed. */
  readonly definitions: string;
  /** Aliases, the umask and the other options. Must come last. */
  readonly settings: string;
  readonly env: Readonly<Record<string, string>>;
  /** Functions that the shell exports to child shells. */
  readonly exportedFunctions: readonly string[];
}

/** Variables that every shell sets at startup, so they don't come from a profile. */
export const OF_EVERY_SHELL: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "SHLVL", "_"]);

/** Options that describe how the shell was started and can't be set. */
const READ_ONLY_OPTION = /^shopt -[su] (?:login_shell|restricted_shell)$/;

const EXPORTED_FUNCTION = /^BASH_FUNC_(.+)%%$/;

/** How many parts come before the environment. */
const PARTS = 5;

/**
 * Creates a script that makes bash print its state, and the parser for that output. A random word marks both
 * ends, which separates the state from output of a profile before it and of an exit trap after it.
 */
export function bashReporter(): {
  script: string;
  /** Undefined if the report is incomplete. */
  read: (output: Buffer) => ShellState | undefined;
} {
  const mark = randomUUID();
  // Not in `$(…)`, because a substitution has its own options. The backslash and `builtin` bypass aliases and
  // functions.
  const parts = ["shopt -p", "declare -f", "alias -p", "umask -p", "set +o"].map(
    (command) => `\\builtin ${command} || \\builtin :\n\\builtin printf '\\0'`,
  );
  const edge = `\\builtin printf '\\0%s\\0' '${mark}'`;
  return {
    script: [edge, ...parts, "/usr/bin/env -0", edge].join("\n"),
    read: (output) => readReport(output, mark),
  };
}

function readReport(output: Buffer, mark: string): ShellState | undefined {
  const first = output.indexOf(`\0${mark}\0`);
  const start = first + mark.length + 2;
  const end = output.indexOf(`\0${mark}\0`, start);
  if (first === -1 || end === -1) return undefined;
  const fields = decode(output.subarray(start, end))?.split("\0");
  if (!fields || fields.length <= PARTS) return undefined;
  const [shopt = "", functions = "", aliases = "", umask = "", options = ""] = fields;
  const env: Record<string, string> = {};
  const exportedFunctions: string[] = [];
  for (const field of fields.slice(PARTS)) {
    const at = field.indexOf("=");
    const name = field.slice(0, Math.max(at, 0));
    const exported = EXPORTED_FUNCTION.exec(name)?.[1];
    if (exported !== undefined) exportedFunctions.push(exported);
    else if (name !== "" && !OF_EVERY_SHELL.has(name)) env[name] = field.slice(at + 1);
  }
  const settable = shopt.split("\n").filter((line) => !READ_ONLY_OPTION.test(line));
  // The order matters. Functions may need `extglob` to be read; an alias would be expanded in them a second time; and
  // `errexit`, `posix` or `xtrace` would change how the rest is read.
  return {
    definitions: [...settable, functions].join("\n"),
    settings: [aliases, umask, options].join("\n"),
    env,
    exportedFunctions,
  };
}

/** Returns undefined if the bytes are not UTF-8, because they could not be passed on unchanged. */
function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
