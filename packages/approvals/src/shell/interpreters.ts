import { hasOption, readOptions } from "./options.ts";
import type { Inner, ShellKind, Unwrapper } from "./unwrap.ts";

/** Programs that run code: shells, whose code is read in turn, and languages, whose code is opaque. */

const posixShell: Unwrapper = (words) => {
  // `bash +x -c …`: options may be switched off with a plus, before the ones that matter.
  // One that ends in `o` takes a name: `bash +o posix -c …`.
  const args = words.filter(
    ({ text }, index) =>
      !/^\+[A-Za-z]+$/.test(text) && !/^\+[A-Za-z]*[oO]$/.test(words[index - 1]?.text ?? ""),
  );
  const options = readOptions(args, {
    short: "oO",
    long: ["--rcfile", "--init-file", "-o", "+o", "-O", "+O"],
    stopsAtOperand: true,
  });
  const inner: Inner[] = [];
  // A start-up file of the caller's choice is code as well.
  for (const name of ["--rcfile", "--init-file"])
    if (options.values.has(name)) inner.push({ kind: "opaque", what: `${name} of a shell` });
  const [first, ...rest] = options.operands;
  if (hasOption(options, "c")) {
    if (first === undefined)
      return { transparent: true, inner: [{ kind: "opaque", what: "a shell without its script" }] };
    return {
      transparent: true,
      inner: [...inner, { kind: "script", source: first, shell: "posix", positional: rest }],
    };
  }
  if (options.uncertain)
    return { transparent: true, inner: [...inner, { kind: "opaque", what: "a shell with unknown options" }] };
  if (
    first === undefined ||
    hasOption(options, "s") ||
    /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/.test(first.text)
  ) {
    if (hasOption(options, "--version", "--help")) return { transparent: false, inner: [] };
    return { transparent: true, inner: [...inner, { kind: "stdin", shell: "posix", what: "a shell" }] };
  }
  // A script file: judged as a program that is run from there.
  return { transparent: false, inner };
};

const otherShell: Unwrapper = (args) => {
  const options = readOptions(args, {
    short: "C",
    stopsAtOperand: true,
    long: ["--commands", "--init-command"],
  });
  const source = hasOption(options, "c", "--commands")
    ? (options.values.get("--commands")?.[0] ?? options.operands[0])
    : undefined;
  if (source !== undefined) return { transparent: true, inner: [{ kind: "script", source, shell: "other" }] };
  if (options.operands.length > 0) return { transparent: false, inner: [] };
  return { transparent: true, inner: [{ kind: "stdin", shell: "other", what: "a shell" }] };
};

const powershell: Unwrapper = (args) => {
  for (let at = 0; at < args.length; at += 1) {
    const option = (args[at]?.text ?? "").toLowerCase().replace(/^\//, "-");
    // PowerShell takes any beginning of an option's name.
    if (/^-e(?:c|n|nc|nco|ncod.*)?$/.test(option))
      return { transparent: true, inner: [{ kind: "opaque", what: "encoded PowerShell" }] };
    if (/^-c(?:o|om|omm.*)?$/.test(option) || !option.startsWith("-")) {
      const words = args.slice(option.startsWith("-") ? at + 1 : at);
      const text = words.map((word) => word.text).join(" ");
      if (text === "-")
        return { transparent: true, inner: [{ kind: "stdin", shell: "powershell", what: "PowerShell" }] };
      return {
        transparent: true,
        inner: [
          { kind: "script", source: { text, plain: true, glob: false, splits: false }, shell: "powershell" },
        ],
      };
    }
    if (/^-f(?:i|il|ile)?$/.test(option)) return { transparent: false, inner: [] };
    if (
      /^-(?:ex|ep|executionpolicy|w|windowstyle|version|wd|workingdirectory|o|outputformat|inputformat|config.*|settingsfile.*)/.test(
        option,
      )
    )
      at += 1;
  }
  return { transparent: true, inner: [{ kind: "stdin", shell: "powershell", what: "PowerShell" }] };
};

const cmd: Unwrapper = (args) => {
  const at = args.findIndex(({ text }) => /^\/[ckr]/i.test(text));
  if (at === -1) return { transparent: true, inner: [{ kind: "stdin", shell: "cmd", what: "cmd" }] };
  const first = args[at]?.text.slice(2) ?? "";
  const text = [first, ...args.slice(at + 1).map((word) => word.text)].join(" ").trim();
  return {
    transparent: true,
    inner: [{ kind: "script", source: { text, plain: true, glob: false, splits: false }, shell: "cmd" }],
  };
};

/** A language: which options carry code, and which options take a value that is not a script's name. */
function language(
  code: readonly string[],
  valued: { short?: string; long?: readonly string[] } = {},
  verbs: readonly string[] = [],
): Unwrapper {
  return (args, name) => {
    const options = readOptions(args, { ...valued, stopsAtOperand: true });
    const [first] = options.operands;
    const what = `${name} code`;
    // `node --import data:…`: a module that is written out in the option.
    const written = [...options.values.values()].some((values) =>
      values.some(({ text }) => /^data:/i.test(text)),
    );
    if (hasOption(options, ...code) || options.uncertain || written)
      return { transparent: false, inner: [{ kind: "opaque", what }] };
    if (first !== undefined && verbs.includes(first.text))
      return { transparent: false, inner: [{ kind: "opaque", what }] };
    if (hasOption(options, "--version", "--help", "V", "h", "v")) return { transparent: false, inner: [] };
    if (hasOption(options, "m", "--test", "--check", "--run", "--watch", "--build"))
      return { transparent: false, inner: [] };
    if (first === undefined || /^(?:-|\/dev\/(?:stdin|fd\/\d+))$/.test(first.text)) {
      return { transparent: false, inner: [{ kind: "stdin", shell: "other", what }] };
    }
    return { transparent: false, inner: [] };
  };
}

const python = language(["c"], { short: "cmWX" });
const node = language(["e", "p", "--eval", "--print", "-pe"], {
  short: "rC",
  long: [
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--env-file",
    "--conditions",
    "--test-name-pattern",
    "--test-reporter",
  ],
});
const perl = language(["e", "E"], { short: "IMm" });
const ruby = language(["e"], { short: "rICEW" });

/** `source file`: code from a file, or from wherever a pipe leads. */
const source: Unwrapper = (args) => {
  const [file] = args;
  const piped =
    file === undefined || /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/.test(file.text);
  return { transparent: piped, inner: piped ? [{ kind: "stdin", shell: "posix", what: "source" }] : [] };
};

const table: Readonly<Record<string, Unwrapper>> = {
  ...named(posixShell, "sh bash zsh dash ash ksh mksh yash rbash bash5 bash4"),
  ...named(otherShell, "fish csh tcsh nu xonsh elvish oil osh rc es"),
  ...named(powershell, "powershell pwsh powershell_ise"),
  cmd,
  ...named(python, "python python2 python3 pypy pypy3 ipython ipython3"),
  ...named(node, "node nodejs tsx ts-node iojs electron"),
  ...named(perl, "perl perl5 raku"),
  ...named(ruby, "ruby jruby irb pry crystal"),
  php: language(["r", "B", "E", "R", "--run"], { short: "cdfz" }),
  ...named(language(["e"], { short: "l" }), "lua luajit lua5.1 lua5.3 lua5.4"),
  deno: language([], {}, ["eval", "repl"]),
  bun: language(["e", "p", "--eval", "--print"]),
  rscript: language(["e"]),
  julia: language(["e", "E", "--eval", "--print"], { short: "pLtC" }),
  osascript: language(["e"], { short: "l" }),
  elixir: language(["e", "--eval"], { short: "r" }),
  groovy: language(["e"]),
  scala: language(["e"]),
  ghc: language(["e"]),
  jshell: language(["--execute", "-"]),
  tclsh: language([]),
  wish: language([]),
  source,
  ".": source,
  guile: language(["c"]),
  clojure: language(["e", "--eval"]),
};

// A map, because a program may be called `constructor`.
const INTERPRETERS = new Map(Object.entries(table));

/** The kind of shell behind a program's name, if it is one. */
export function shellKind(name: string): ShellKind | undefined {
  if (name === "cmd") return "cmd";
  const unwrapper = INTERPRETERS.get(name);
  if (unwrapper === posixShell) return "posix";
  if (unwrapper === powershell) return "powershell";
  return unwrapper === otherShell ? "other" : undefined;
}

/** Whether a name stands for a program that runs code, with a version at its end or not. */
export function interpreterFor(name: string): Unwrapper | undefined {
  const exact = INTERPRETERS.get(name);
  if (exact !== undefined || !/\d$/.test(name)) return exact;
  return INTERPRETERS.get(name.replace(/[\d.]+$/, ""));
}

function named(unwrapper: Unwrapper, names: string): Record<string, Unwrapper> {
  return Object.fromEntries(names.split(" ").map((name) => [name, unwrapper]));
}
