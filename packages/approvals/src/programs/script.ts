import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal } from "./declaration/word.ts";

/** Records to `typescript` unless it is given a file. Without `-c` it starts an interactive shell: not understood. */
export const script = declareProgram({
  names: ["script"],
  options: {
    ...HELP,
    "-a, --append": flag,
    "-B, --log-io": value("write"),
    "-c, --command": value("shell"),
    "-e, --return": flag,
    "-E, --echo": value(["always", "auto", "never"]),
    "-f, --flush": flag,
    "-I, --log-in": value("write"),
    "-m, --logging-format": value(["advanced", "classic"]),
    "-o, --output-limit": value("number"),
    "-O, --log-out": value("write"),
    "-q, --quiet": flag,
    "-T, --log-timing": value("write"),
  },
  operands: { first: ["write"] },
  examine: ({ operands, options }: ParsedCall): readonly Effect[] | string => {
    if (!options.has("-c")) return "it starts an interactive shell without -c";
    return operands.length === 0 ? [{ kind: "write", path: literal("typescript") }] : [];
  },
});
