import type { NamedValue } from "./invocation.ts";
import { hasOption, readOptions, type OptionSyntax } from "./options.ts";
import type { Inner, Unwrapper } from "./unwrap.ts";
import { derivedValue, UNKNOWN_VALUE, type Value } from "./value.ts";

/** Reads past a wrapper's options and `skip` operands to the command behind them. */
function prefix(syntax: OptionSyntax, skip = 0): Unwrapper {
  return (args) => {
    const { operands } = readOptions(args, { ...syntax, stopsAtOperand: true });
    const argv = operands.slice(skip);
    return { transparent: true, inner: argv.length === 0 ? [] : [{ kind: "command", argv }] };
  };
}

/** `env`, and programs that take assignments before the command as it does. */
const env: Unwrapper = (args) => {
  const options = readOptions(args, {
    short: "uCSP",
    long: ["--unset", "--chdir", "--split-string", "--block-signal"],
    stopsAtOperand: true,
  });
  const assignments: NamedValue[] = [];
  let at = 0;
  for (const operand of options.operands) {
    const equals = operand.text.indexOf("=");
    if (equals <= 0) break;
    assignments.push({
      name: operand.text.slice(0, equals),
      value: { ...operand, text: operand.text.slice(equals + 1) },
    });
    at += 1;
  }
  const argv = options.operands.slice(at);
  // `-S` holds a command line of its own; what follows is appended to it.
  const split = options.values.get("S") ?? options.values.get("--split-string");
  if (split !== undefined) {
    const source = derivedValue([...split, ...argv].map(({ text }) => text).join(" "));
    return { transparent: true, inner: [{ kind: "script", source, shell: "posix" }] };
  }
  const folder = (options.values.get("C") ?? options.values.get("--chdir"))?.[0];
  if (argv.length === 0) return { transparent: false, inner: [] };
  return {
    transparent: true,
    inner: [{ kind: "command", argv, assignments, ...(folder === undefined ? {} : { folder }) }],
  };
};

const command: Unwrapper = (args) => {
  const options = readOptions(args, { stopsAtOperand: true });
  // `command -v name` only looks the name up.
  if (hasOption(options, "v", "V")) return { transparent: false, inner: [] };
  return {
    transparent: true,
    inner: options.operands.length === 0 ? [] : [{ kind: "command", argv: options.operands }],
  };
};

/** Programs that hand their words to a shell as one line. */
const shellLine: Unwrapper = (args) => {
  const { operands } = readOptions(args, {
    short: "nqdpeL",
    long: ["--interval", "--delay"],
    stopsAtOperand: true,
  });
  const source = derivedValue(operands.map(({ text }) => text).join(" "));
  return {
    transparent: true,
    inner: operands.length === 0 ? [] : [{ kind: "script", source, shell: "posix" }],
  };
};

/** `script -c '…'`, `flock file -c '…'`, `su -c '…'`, `nix-shell --run '…'`. */
function withCommandString(flags: readonly string[], syntax: OptionSyntax, skip: number): Unwrapper {
  return (args, name) => {
    const options = readOptions(args, { ...syntax, stopsAtOperand: name === "flock" });
    const source = flags.flatMap((flag) => options.values.get(flag) ?? [])[0];
    if (source !== undefined)
      return { transparent: true, inner: [{ kind: "script", source, shell: "posix" }] };
    const [first, ...rest] = options.operands.slice(skip);
    if (first?.text === "-c" && rest[0] !== undefined) {
      return { transparent: true, inner: [{ kind: "script", source: rest[0], shell: "posix" }] };
    }
    return {
      transparent: true,
      inner: first === undefined ? [] : [{ kind: "command", argv: [first, ...rest] }],
    };
  };
}

const applet: Unwrapper = (args) =>
  args.length === 0 ? undefined : { transparent: true, inner: [{ kind: "command", argv: args }] };

/** `eval` joins its words and reads them again. */
const evaluateWords: Unwrapper = (args) => {
  const words = args[0]?.text === "--" ? args.slice(1) : args;
  const source = derivedValue(words.map(({ text }) => text).join(" "));
  return { transparent: true, inner: words.length === 0 ? [] : [{ kind: "script", source, shell: "posix" }] };
};

const trap: Unwrapper = (args) => {
  const [first] = readOptions(args).operands;
  const inner: Inner[] =
    first === undefined || first.text === "-" || first.text === "" || args.length < 2
      ? []
      : [{ kind: "script", source: first, shell: "posix" }];
  return { transparent: true, inner };
};

/** `mapfile -C 'command'` runs the command with an index and a line behind it. */
const callback: Unwrapper = (args) => {
  const [source] = readOptions(args, { short: "dnOsuCc" }).values.get("C") ?? [];
  if (source === undefined) return undefined;
  const text = `${source.text} 0 \u0000`;
  return { transparent: false, inner: [{ kind: "script", source: { ...source, text }, shell: "posix" }] };
};

const alias: Unwrapper = (args) => ({
  transparent: true,
  inner: args.flatMap((arg): Inner[] => {
    const equals = arg.text.indexOf("=");
    if (equals === -1) return [];
    return [{ kind: "script", source: { ...arg, text: arg.text.slice(equals + 1) }, shell: "posix" }];
  }),
});

/** `concurrently "a" "b"`, `run-p`, `nodemon --exec "…"`, `entr`: each a command line for a shell. */
const commandLines: Unwrapper = (args, name) => {
  const options = readOptions(args, {
    short: "ncpkxw",
    long: "--names --exec --prefix-colors --prefix --watch --ext --prepare --setup --cleanup --conclude".split(
      " ",
    ),
  });
  const lines = [
    ...["--exec", "x", "--prepare", "--setup", "--cleanup", "--conclude"].flatMap(
      (key) => options.values.get(key) ?? [],
    ),
    // `-p` and `-c` hold commands for hyperfine, and colours or prefixes for the others: a colour is no command.
    ...(name === "hyperfine" ? ["p", "c"].flatMap((key) => options.values.get(key) ?? []) : []),
    ...options.operands,
  ];
  return { transparent: true, inner: lines.map((source) => ({ kind: "script", source, shell: "posix" })) };
};

/** `perf stat -e cycles command`: options of its own behind the verb. */
const perf: Unwrapper = (args) => {
  const rest = readOptions(args, { stopsAtOperand: true }).operands.slice(1);
  const { operands: argv } = readOptions(rest, { short: "eoFpCtciIrx", stopsAtOperand: true });
  return { transparent: true, inner: argv.length === 0 ? [] : [{ kind: "command", argv }] };
};

export const WRAPPERS: Readonly<Record<string, Unwrapper>> = {
  env,
  genv: env,
  "cross-env": env,
  command,
  builtin: prefix({}),
  exec: prefix({ short: "a" }),
  nohup: prefix({}),
  setsid: prefix({}),
  nice: prefix({ short: "n", long: ["--adjustment"] }),
  gnice: prefix({ short: "n", long: ["--adjustment"] }),
  ionice: prefix({ short: "cnpPu", long: ["--class", "--classdata"] }),
  chrt: prefix({ short: "TPD" }, 1),
  taskset: prefix({}, 1),
  timeout: prefix({ short: "sk", long: ["--signal", "--kill-after"] }, 1),
  gtimeout: prefix({ short: "sk", long: ["--signal", "--kill-after"] }, 1),
  time: prefix({ short: "fo", long: ["--format", "--output"] }),
  gtime: prefix({ short: "fo", long: ["--format", "--output"] }),
  stdbuf: prefix({ short: "ioe", long: ["--input", "--output", "--error"] }),
  unbuffer: prefix({}),
  chronic: prefix({}),
  ltrace: prefix({ short: "aAeFlnopsuwx" }),
  strace: prefix({ short: "aeEIoOpPsSuUX" }),
  caffeinate: prefix({ short: "tw" }),
  "xvfb-run": prefix({ short: "efnps", long: ["--server-args", "--server-num", "--auth-file"] }),
  "dbus-run-session": prefix({}),
  proxychains: prefix({ short: "f" }),
  proxychains4: prefix({ short: "f" }),
  torsocks: prefix({}),
  rlwrap: prefix({ short: "CDfHIlpPs" }),
  fakeroot: prefix({ short: "lsib" }),
  fakechroot: prefix({}),
  faketime: prefix({ short: "f" }, 1),
  catchsegv: prefix({}),
  eatmydata: prefix({}),
  numactl: prefix({ short: "NmCip" }),
  cpulimit: prefix({ short: "lpe" }),
  tini: prefix({ short: "pe" }),
  "dumb-init": prefix({}),
  valgrind: prefix({}),
  "sandbox-exec": prefix({ short: "fpnD" }),
  xterm: withCommandString(["e"], { short: "eTn", long: ["-e", "-title", "-geometry"] }, 0),
  daemonize: prefix({ short: "acepolu" }),
  "ssh-agent": prefix({ short: "aEtP" }),
  "dbus-launch": prefix({}),
  perf,
  noglob: prefix({}),
  nocorrect: prefix({}),
  "-": prefix({}),
  repeat: prefix({}, 1),
  coproc: prefix({}),
  setarch: prefix({}, 1),
  linux64: prefix({}),
  unshare: prefix({ short: "SGR", long: ["--root", "--wd", "--map-user"] }),
  firejail: prefix({}),
  prlimit: prefix({ short: "p" }),
  "systemd-run": prefix({
    short: "uptEdMHG",
    long: ["--unit", "--property", "--slice", "--setenv", "--on-calendar"],
  }),
  "systemd-inhibit": prefix({ long: ["--what", "--who", "--why", "--mode"] }),
  doppler: prefix({ long: ["--project", "--config"] }, 1),
  dotenv: prefix({ short: "ef" }),
  "dotenv-cli": prefix({ short: "ef" }),
  watch: shellLine,
  gwatch: shellLine,
  hyperfine: commandLines,
  concurrently: commandLines,
  nodemon: commandLines,
  entr: (args) => {
    const { operands } = readOptions(args, { stopsAtOperand: true });
    return {
      transparent: true,
      inner: operands.length === 0 ? [] : [{ kind: "command", argv: [...operands, UNKNOWN_VALUE] }],
    };
  },
  script: withCommandString(["c", "--command"], { short: "cEIOBTm", long: ["--command"] }, 1),
  flock: withCommandString(["c", "--command"], { short: "wEc", long: ["--timeout", "--command"] }, 1),
  "nix-shell": withCommandString(
    ["--run", "--command"],
    { short: "pAI", long: ["--run", "--command", "--packages"] },
    9,
  ),
  busybox: applet,
  toybox: applet,
  mapfile: callback,
  readarray: callback,
  eval: evaluateWords,
  trap,
  alias,
};

/** Values that a wrapper appends from its stdin, when they are known. */
export function appendInput(argv: readonly Value[], input: string | undefined): readonly Value[] {
  if (input === undefined) return [...argv, UNKNOWN_VALUE];
  return [
    ...argv,
    ...input
      .split(/\s+/)
      .filter((word) => word !== "")
      .map((word) => derivedValue(word)),
  ];
}
