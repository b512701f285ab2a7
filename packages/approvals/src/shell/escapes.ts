import { hasOption, readOptions } from "./options.ts";
import type { Unwrapper } from "./unwrap.ts";

/** Programs whose own little language can run commands: the program text is looked at, not understood. */
function escapes(pattern: RegExp, what: string): Unwrapper {
  return (args) => {
    // Longer than any such program is: not searched, so that the patterns above can't be made to take long.
    const hit = args.some(({ text }) => text.length > 4096 || pattern.test(text));
    return { transparent: false, inner: hit ? [{ kind: "opaque", what }] : [] };
  };
}

const editor: Unwrapper = (args) => {
  const options = readOptions(args, { short: "cS", long: ["--cmd"] });
  const opaque =
    hasOption(options, "c", "S", "--cmd") ||
    args.some(({ text }) => text.startsWith("+") && !/^\+\d*$/.test(text));
  return { transparent: false, inner: opaque ? [{ kind: "opaque", what: "editor commands" }] : [] };
};

/** Programs that can be told in their own language to run something else. */
export const ESCAPES: Readonly<Record<string, Unwrapper>> = {
  awk: escapes(
    /system\s*\(|\|\s*(?:&|getline|"|cmd|sh)|"\s*\||getline|>\s*"|>\s*\$|@load/,
    "awk that runs commands or writes files",
  ),
  gawk: escapes(
    /system\s*\(|\|\s*(?:&|getline|"|cmd|sh)|"\s*\||getline|>\s*"|>\s*\$|@load/,
    "awk that runs commands or writes files",
  ),
  mawk: escapes(
    /system\s*\(|\|\s*(?:getline|"|cmd|sh)|"\s*\||getline|>\s*"|>\s*\$/,
    "awk that runs commands or writes files",
  ),
  nawk: escapes(
    /system\s*\(|\|\s*(?:getline|"|cmd|sh)|"\s*\||getline|>\s*"|>\s*\$/,
    "awk that runs commands or writes files",
  ),
  sed: escapes(
    /(?:^|[;{}\n]|\d|\/|\$)\s*[eW]\s*(?:$|[;}\n\s])|(?:^|[;{}\n]|\d|\$|\/\s*)[eW]\s+\S|\/[gip\d]*e[gip\d]*(?:$|[;}\n\s])/,
    "sed that runs commands",
  ),
  gsed: escapes(
    /(?:^|[;{}\n]|\d|\$)\s*[eW]\s*(?:$|[;}\n\s])|\/[gip\d]*e[gip\d]*(?:$|[;}\n\s])/,
    "sed that runs commands",
  ),
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
  make: escapes(
    /^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)\s*[:+?]?=|^--eval|^-E|^(?:-f-|--(?:make)?file=-)$/,
    "make with rules from the command line",
  ),
  gmake: escapes(/^(?:SHELL|MAKEFLAGS)\s*[:+?]?=|^--eval|^-E/, "make with rules from the command line"),
  less: escapes(/^\+/, "pager commands"),
  screen: escapes(/^-X|^-[dmS]*[dm]/, "a session that runs commands"),
  tmux: escapes(
    /^(?:send-keys|send|new-session|new|new-window|neww|split-window|splitw|run-shell|run|respawn-.*|if-shell|pipe-pane|source.*)$/,
    "a session that runs commands",
  ),
  expect: () => ({ transparent: false, inner: [{ kind: "opaque", what: "expect" }] }),
};
