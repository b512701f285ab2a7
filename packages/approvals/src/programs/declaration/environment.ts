import type { Effect } from "./effect.ts";
import type { NotUnderstood } from "./parsed-call.ts";
import type { Word } from "./word.ts";

/** In other character sets, a byte of a letter can be a backslash or a pipe, which changes how programs read their arguments. */
const LOCALE = /^(?:C|POSIX|(?:C|[a-z]{2,3}_[A-Z]{2})\.(?:UTF-8|utf-?8)(?:@\w+)?|en_(?:GB|US))?$/;

/**
 * Environment variables that a script may set, by name. All others are not understood: many of them choose a program,
 * a library or a configuration file (`PATH`, `HOME`, `GIT_DIR`, `LD_PRELOAD`, `NODE_OPTIONS`).
 *
 * - a regular expression: the values that can have no effect beyond the output or speed of a program.
 * - `code`: a list of folders with code that programs load, judged like project code.
 */
const VARIABLES: Readonly<Record<string, RegExp | "code">> = {
  ASTRO_TELEMETRY_DISABLED: /^\w*$/,
  BROWSER: /^none$/,
  CARGO_INCREMENTAL: /^[01]$/,
  CARGO_NET_OFFLINE: /^(?:true|false)$/,
  CARGO_TERM_COLOR: /^\w+$/,
  CC: /^(?:cc|clang|gcc)(?:-\d+)?$/,
  CGO_ENABLED: /^[01]$/,
  CI: /^\w*$/,
  CLICOLOR: /^\w*$/,
  CLICOLOR_FORCE: /^\w*$/,
  COLUMNS: /^\d+$/,
  CXX: /^(?:c\+\+|clang\+\+|g\+\+)(?:-\d+)?$/,
  DATABASE_URL: /^[a-z]+:\/\/(?:[\w-]+(?::[\w-]*)?@)?(?:localhost|127\.0\.0\.1)(?::\d+)?(?:\/[\w-]*)?$/,
  DEBIAN_FRONTEND: /^noninteractive$/,
  DEBUG: /^[\w:*,.-]*$/,
  DOTNET_CLI_TELEMETRY_OPTOUT: /^\w*$/,
  DO_NOT_TRACK: /^\w*$/,
  FORCE_COLOR: /^\w*$/,
  GH_PAGER: /^(?:cat)?$/,
  GIT_EDITOR: /^(?:true|:)$/,
  GIT_OPTIONAL_LOCKS: /^[01]$/,
  GIT_PAGER: /^(?:cat)?$/,
  GIT_TERMINAL_PROMPT: /^[01]$/,
  GOARCH: /^\w+$/,
  GOFLAGS: /^-(?:mod=(?:mod|vendor|readonly)|count=\d+|v|race)$/,
  GOOS: /^\w+$/,
  HUSKY: /^[01]$/,
  LANG: LOCALE,
  LC_ALL: LOCALE,
  LC_CTYPE: LOCALE,
  LINES: /^\d+$/,
  LOG_LEVEL: /^\w*$/,
  MIX_ENV: /^\w+$/,
  NEXT_TELEMETRY_DISABLED: /^\w*$/,
  NODE_ENV: /^\w*$/,
  NODE_NO_WARNINGS: /^[01]$/,
  NODE_OPTIONS: /^--max[-_]old[-_]space[-_]size=\d+$/,
  NO_COLOR: /^\w*$/,
  PAGER: /^cat$/,
  PIP_DISABLE_PIP_VERSION_CHECK: /^\w*$/,
  PORT: /^\d+$/,
  PYTEST_DISABLE_PLUGIN_AUTOLOAD: /^\w*$/,
  PYTHONDONTWRITEBYTECODE: /^\w*$/,
  PYTHONHASHSEED: /^\w*$/,
  PYTHONIOENCODING: /^[\w:-]*$/,
  PYTHONPATH: "code",
  PYTHONUNBUFFERED: /^\w*$/,
  PYTHONUTF8: /^[01]$/,
  PYTHONWARNINGS: /^(?:ignore|default|error|always|once)$/,
  RAILS_ENV: /^\w*$/,
  RUSTFLAGS: /^-[ADW] ?\w[\w-]*(?: -[ADW] ?\w[\w-]*)*$/,
  RUST_BACKTRACE: /^\w*$/,
  RUST_LOG: /^[\w:=,-]*$/,
  RUST_TEST_THREADS: /^\d+$/,
  SYSTEMD_PAGER: /^(?:cat)?$/,
  TERM: /^[\w.-]*$/,
  TF_IN_AUTOMATION: /^\w*$/,
  TURBO_TELEMETRY_DISABLED: /^\w*$/,
  TZ: /^[\w/+-]*$/,
  VERBOSE: /^\w*$/,
  VITEST_MAX_THREADS: /^\d+$/,
};

type Execution = Extract<Effect, { readonly kind: "execute" }>;

/** The effects of setting an environment variable for a program, or why that is not understood. */
export function environmentEffects(name: string, value: Word): readonly Execution[] | NotUnderstood {
  const rule = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined;
  if (rule === undefined) return { problem: `the environment variable ${name} is not declared` };
  const { text } = value;
  if (text === undefined || value.isGlob === true || value.maySplit === true)
    return { problem: `the value of ${name} is only known at run time` };
  if (rule !== "code")
    return rule.test(text) ? [] : { problem: `the value "${text}" of ${name} is not declared` };
  return text
    .split(":")
    .filter((folder) => folder !== "")
    .map((path): Execution => ({ kind: "execute", path: { text: path } }));
}

/** Splits `NAME=value`, as `env` and `export` accept it. Undefined if the word is not an assignment. */
export function splitAssignment(word: Word): readonly [name: string, value: Word] | undefined {
  const match = /^([A-Za-z_]\w*)=/.exec(word.text ?? "");
  if (match === null || word.text === undefined) return undefined;
  return [match[1] ?? "", { ...word, text: word.text.slice(match[0].length) }];
}
