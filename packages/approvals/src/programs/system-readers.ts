import { declareProgram, flag, type ProgramDeclaration, value } from "./declaration/declaration.ts";

/** Programs that print facts about the machine. Only calls that print are declared. */
export const systemReaders: readonly ProgramDeclaration[] = [
  declareProgram({
    names: ["apt"],
    subcommands: {
      list: { options: { "--installed": flag, "--upgradable": flag }, operands: { rest: "data" } },
      show: { operands: { rest: "data" } },
      search: { operands: { rest: "data" } },
    },
  }),
  declareProgram({ names: ["bc"], options: { "-l, --mathlib": flag, "-q, --quiet": flag } }),
  declareProgram({
    names: ["brew"],
    subcommands: {
      info: { operands: { rest: "data" } },
      list: { options: { "--versions": flag }, operands: { rest: "data" } },
    },
  }),
  declareProgram({
    names: ["dpkg"],
    options: { "-L, --listfiles": flag, "-S, --search": flag, "-l, --list": flag, "-s, --status": flag },
    operands: { rest: "data" },
    examine: ({ options }) => (options.size === 1 ? [] : "needs exactly one of -L, -S, -l and -s"),
  }),
  declareProgram({ names: ["getconf"], options: { "-a": flag }, operands: { first: ["data", "read"] } }),
  declareProgram({ names: ["ifconfig"], options: { "-a": flag }, operands: { first: ["data"] } }),
  declareProgram({
    names: ["ip"],
    options: { "-4": flag, "-6": flag, "-br, -brief": flag, "-c, -color": flag, "-j, -json": flag },
    syntax: "words",
    operands: {
      first: [
        ["a", "addr", "address", "l", "link", "n", "neigh", "r", "route"],
        ["list", "ls", "show"],
      ],
      atLeast: 1,
    },
  }),
  declareProgram({
    names: ["journalctl"],
    options: {
      "-b, --boot": flag,
      "-e, --pager-end": flag,
      "-f, --follow": flag,
      "-k, --dmesg": flag,
      "-n, --lines": value("number"),
      "-o, --output": value("data"),
      "-p, --priority": value("data"),
      "-r, --reverse": flag,
      "-u, --unit": value("data"),
      "-x, --catalog": flag,
      "--no-pager": flag,
      "--since": value("data"),
      "--until": value("data"),
      "--user": flag,
    },
  }),
  declareProgram({ names: ["locale"], options: { "-a, --all-locales": flag, "-m, --charmaps": flag } }),
  declareProgram({
    names: ["man", "apropos", "whatis"],
    options: { "-f": flag, "-k": flag },
    operands: { rest: /^[\w.:+-]+$/ },
  }),
  declareProgram({
    names: ["screen"],
    options: { "-ls, -list": flag },
    syntax: "words",
    operands: {},
    examine: ({ options }) => (options.size === 1 ? [] : "starts a terminal"),
  }),
  declareProgram({
    names: ["systemctl"],
    options: {
      "-a, --all": flag,
      "-l, --full": flag,
      "-n, --lines": value("number"),
      "--no-pager": flag,
      "--state": value("data"),
      "--type, -t": value("data"),
      "--user": flag,
    },
    operands: {
      first: [["is-active", "is-enabled", "is-failed", "list-timers", "list-units", "show", "status"]],
      rest: "data",
      atLeast: 1,
    },
  }),
  declareProgram({
    names: ["tmux"],
    operands: { atLeast: 1 },
    subcommands: { ls: {}, "list-sessions": {}, "list-windows": {} },
  }),
  declareProgram({
    names: ["tput"],
    operands: { first: [["bold", "colors", "cols", "lines", "sgr0", "setaf"]], rest: "number", atLeast: 1 },
  }),
];
