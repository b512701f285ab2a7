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
  declareProgram({
    names: ["dpkg"],
    options: { "-L, --listfiles": flag, "-S, --search": flag, "-l, --list": flag, "-s, --status": flag },
    operands: { rest: "data" },
    examine: ({ options }) => (options.size === 1 ? [] : "needs exactly one of -L, -S, -l and -s"),
  }),
  declareProgram({ names: ["ifconfig"], options: { "-a": flag }, operands: { first: ["data"] } }),
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
      first: [["is-active", "is-enabled", "is-failed", "list-timers", "list-units", "status"]],
      rest: "data",
      atLeast: 1,
    },
  }),
  declareProgram({
    names: ["tmux"],
    operands: { atLeast: 1 },
    subcommands: { ls: {}, "list-sessions": {}, "list-windows": {} },
  }),
];
