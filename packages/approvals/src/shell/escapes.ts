import { hasOption, readOptions } from "./options.ts";
import { readSedScript } from "./sed-script.ts";
import type { Inner, Unwrapper } from "./unwrap.ts";
import { plainValue, type Value } from "./value.ts";

/** Programs whose own little language can run commands: the program text is looked at, not understood. */
function escapes(pattern: RegExp, what: string): Unwrapper {
  return (args) => {
    // Longer than any such program is: not searched, so that the patterns above can't be made to take long.
    const hit = args.some(({ text }) => text.length > 4096 || pattern.test(text));
    return { transparent: false, inner: hit ? [{ kind: "opaque", what }] : [] };
  };
}

const editor: Unwrapper = (args) => {
  const options = readOptions(args, { short: "cSsul", long: ["--cmd"] });
  const opaque =
    hasOption(options, "c", "S", "s", "u", "l", "--cmd", "--remote-send", "--remote-expr") ||
    args.some(({ text }) => text.startsWith("+") && !/^\+\d*$/.test(text));
  return { transparent: false, inner: opaque ? [{ kind: "opaque", what: "editor commands" }] : [] };
};

/** A redirection of `print` may name a variable; elsewhere in awk `>` compares. */
const AWK =
  /system\s*\(|\|\s*(?:&|getline|"|cmd|sh)|"\s*\||getline|>\s*"|>\s*\$|@load|@include|\bprintf?\b[^;}\n(]*>\s*\w|\bprintf?\b[^;}\n]*\)\s*>\s*\w|\bprintf?\b[^;}\n]*\|\s*\w/;

const awkProgram = escapes(AWK, "awk that runs commands or writes files");

const awk: Unwrapper = (args, name) => codeFrom(args, ["f", "--file"], name) ?? awkProgram(args, name);

const sed: Unwrapper = (args, name) => {
  const options = readOptions(args, { short: "efl", long: ["--expression", "--file", "--line-length"] });
  const given = [...(options.values.get("e") ?? []), ...(options.values.get("--expression") ?? [])];
  const scripts = given.length > 0 ? given : options.operands.slice(0, 1);
  const runs = scripts.some(({ text }) => text.length > 4096 || readSedScript(text).runs);
  if (runs) return { transparent: false, inner: [{ kind: "opaque", what: "sed that runs commands" }] };
  return codeFrom(args, ["f", "--file"], name) ?? { transparent: false, inner: [] };
};

const STREAM = /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/;

/** `make -f -`, `awk -f /dev/stdin`: a program whose code comes out of a pipe. */
function codeFrom(args: readonly Value[], names: readonly string[], what: string): ReturnType<Unwrapper> {
  const options = readOptions(args, {
    short: names.filter((name) => name.length === 1).join(""),
    long: names.filter((name) => name.length > 1),
  });
  const streams = names.some((name) => options.values.get(name)?.some(({ text }) => STREAM.test(text)));
  return streams
    ? { transparent: false, inner: [{ kind: "stdin", shell: "other", what: `${what} code` }] }
    : undefined;
}

/** Programs that take their code from a file, and can be told to take it from a pipe. */
function withCode(names: readonly string[], otherwise?: Unwrapper): Unwrapper {
  return (args, name) =>
    codeFrom(args, names, name) ?? otherwise?.(args, name) ?? { transparent: false, inner: [] };
}

/** `deno run -`, `uv run -`, `go run /dev/stdin`: the same for a word behind a verb. */
const runsStream: Unwrapper = (args, name) => ({
  transparent: false,
  inner:
    args[0]?.text === "run" && args.some(({ text }) => STREAM.test(text))
      ? [{ kind: "stdin", shell: "other", what: `${name} code` }]
      : [],
});

/** Programs that fetch a program and run it at once; the address stands where its name would. */
const RUNS_ADDRESS = /^(?:deno|bun|uv|npx|pnpx|bunx|uvx|pipx|java|nix)$/;

/** Whether a command runs what is at an address: `deno run https://…`, `npx https://…`. */
export function runsAddress(name: string, args: readonly Value[]): boolean {
  if (
    !RUNS_ADDRESS.test(name) ||
    (/^(?:deno|bun|uv|pipx|nix)$/.test(name) && !/^(?:run|x|test|serve|shell)$/.test(args[0]?.text ?? ""))
  )
    return false;
  const { operands } = readOptions(args, { short: "p", long: ["--from", "--with", "--spec", "--package"] });
  return operands.some(({ text }) => /^(?:git\+)?https?:\/\//i.test(text));
}

/** Programs whose language has a way out to a shell, when they read it from a pipe. A file of SQL is everyday work. */
export const ESCAPABLE = /^(?:psql|mysql|mariadb|sqlite3|gdb|lldb|ex|vim?|nvim|m4|r|awk|posh|ion)$/;

const make = withCode(
  ["f", "--file", "--makefile"],
  escapes(/^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)\s*[:+?]?=|^--eval|^-E/, "make with rules from the command line"),
);

/** Windows of a terminal that run what follows: `screen -S name command`. */
const screen: Unwrapper = (args) => {
  const { operands } = readOptions(args, { short: "cehpsStTXxrRd", stopsAtOperand: true });
  return { transparent: false, inner: operands.length === 0 ? [] : [{ kind: "command", argv: operands }] };
};

/** `cmake -E` is a small shell of its own. */
const CMAKE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  rm: ["rm"],
  remove: ["rm"],
  remove_directory: ["rm", "-r"],
  copy: ["cp"],
  copy_if_different: ["cp"],
  copy_directory: ["cp", "-r"],
  rename: ["mv"],
  touch: ["touch"],
  make_directory: ["mkdir"],
  create_symlink: ["ln", "-s"],
  create_hardlink: ["ln"],
  tar: ["tar"],
  env: ["env"],
  time: ["time"],
};

const cmake: Unwrapper = (args, name) => {
  const at = args.findIndex(({ text }) => text === "-E");
  const tool = at === -1 ? undefined : CMAKE_TOOLS[args[at + 1]?.text ?? ""];
  if (tool === undefined) return codeFrom(args, ["P"], name);
  return {
    transparent: false,
    inner: [{ kind: "command", argv: [...tool.map(plainValue), ...args.slice(at + 2)] }],
  };
};

/** `complete -C 'command'`; a list of words is expanded each time, substitutions included. */
const completion: Unwrapper = (args) => {
  const options = readOptions(args, { short: "AoCFGPSWX" });
  const inner: Inner[] = (options.values.get("C") ?? []).map((source) => ({
    kind: "script",
    source,
    shell: "posix",
  }));
  if ((options.values.get("W") ?? []).some(({ text }) => /\$\(|`/.test(text)))
    inner.push({ kind: "opaque", what: "words that are expanded again" });
  return { transparent: false, inner };
};

/** Programs that can be told in their own language to run something else. */
export const ESCAPES: Readonly<Record<string, Unwrapper>> = {
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  sed,
  gsed: sed,
  vim: editor,
  vi: editor,
  nvim: editor,
  ex: editor,
  view: editor,
  emacs: escapes(/^-?-(?:eval|batch|load|l|f|funcall|script)/, "Emacs Lisp"),
  ed: () => ({ transparent: false, inner: [{ kind: "opaque", what: "ed commands" }] }),
  gdb: escapes(/^-?-(?:ex|eval-command|x|command|args|batch)/, "debugger commands"),
  lldb: escapes(/^-?-(?:o|O|one-line|s|source|batch|b)$/, "debugger commands"),
  sqlite3: escapes(
    /\.(?:shell|system|output|once|import|load|open|excel|edit)\b|load_extension|writefile|edit\s*\(/i,
    "SQLite dot-commands",
  ),
  psql: escapes(/\\!|\\copy|\bcopy\b.*\bprogram\b|\\o\b|\\g\s*\|/i, "psql that runs commands"),
  mysql: escapes(/\\!|\bsystem\b|into\s+(?:out|dump)file/i, "mysql that runs commands"),
  man: escapes(/^(?:-P|--pager|-H|--html)/, "a pager of its own"),
  zip: escapes(/^(?:-TT|--unzip-command)/, "a test command"),
  split: escapes(/^--filter/, "a filter command"),
  sort: escapes(/^--compress-program/, "a compression command"),
  rg: escapes(/^--(?:pre|hostname-bin)(?:=|$)/, "a preprocessor command"),
  tcpdump: escapes(/^-[a-zA-Z]*z/, "a post-rotate command"),
  make,
  gmake: make,
  ninja: withCode(["f"]),
  just: withCode(["f", "--justfile"], escapes(/^--(?:shell|shell-arg|set)(?:=|$)/, "a shell of its own")),
  cmake,
  deno: runsStream,
  uv: runsStream,
  go: runsStream,
  npm: escapes(/^(?:--)?script-shell/, "a shell of its own"),
  pnpm: escapes(/^(?:--)?script-shell/, "a shell of its own"),
  less: escapes(/^\+/, "pager commands"),
  screen: (args, name) => {
    const session = escapes(/^-X|^-[dmS]*[dm]/, "a session that runs commands")(args, name);
    return session?.inner.length === 0 ? screen(args, name) : session;
  },
  tmux: escapes(
    /^(?:send-keys|send|new-session|new|new-window|neww|split-window|splitw|run-shell|run|respawn-.*|if-shell|pipe-pane|source.*|set-hook|bind|bind-key|display-popup|popup)$/,
    "a session that runs commands",
  ),
  // Built-ins that keep code for later, or for the next key that is pressed.
  compgen: completion,
  complete: completion,
  bind: escapes(/^-x|:/, "a key that runs commands"),
  fc: (args) => ({
    transparent: false,
    inner: args.some(({ text }) => /^-[a-z]*l/.test(text))
      ? []
      : [{ kind: "opaque", what: "a command out of the history" }],
  }),
  hash: escapes(/^-[a-z]*p/, "another program under a known name"),
  enable: escapes(/^-[a-z]*f/, "a library that is loaded into the shell"),
  expect: () => ({ transparent: false, inner: [{ kind: "opaque", what: "expect" }] }),
};
