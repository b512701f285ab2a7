import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";

/** Pages with the program that `--pager`, `PAGER` and its configuration file name, unless paging is off. */
export const bat = declareProgram({
  names: ["bat"],
  options: {
    ...HELP,
    "-A, --show-all": flag,
    "--color": value(["always", "auto", "never"]),
    "--decorations": value(["always", "auto", "never"]),
    "-f": flag,
    "--file-name": value("data"),
    "-H, --highlight-line": value("data"),
    "-l, --language": value("data"),
    "-n, --number": flag,
    "-p, --plain": flag,
    "-P": flag,
    "--paging": value(["never"]),
    "-r, --line-range": value("data"),
    "-S, --chop-long-lines": flag,
    "--style": value("data"),
    "--tabs": value("number"),
    "--terminal-width": value("number"),
    "--theme": value("data"),
    "-u, --unbuffered": flag,
    "--wrap": value(["auto", "character", "never"]),
  },
  operands: { rest: "read" },
  examine: (call: ParsedCall) =>
    call.options.has("-P") || call.options.has("--paging") ? [] : [action("project-code")],
});
