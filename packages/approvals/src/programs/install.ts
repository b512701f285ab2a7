import { PLAIN_MODE } from "./chmod.ts";
import { declareProgram, flag, flagWith, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { examineTargets } from "./copy-targets.ts";

/** `-s` runs a program, `-o` and `-g` change owners, and backups are not declared. */
export const install = declareProgram({
  names: ["install"],
  options: {
    ...HELP,
    "-c": flag,
    "-C, --compare": flag,
    "-d, --directory": flagWith({ operands: { rest: "write", atLeast: 1 } }),
    "-D": flag,
    "-m, --mode": value(PLAIN_MODE),
    "-p, --preserve-timestamps": flag,
    "-t, --target-directory": value("write", { operands: { rest: "read", atLeast: 1 } }),
    "-T, --no-target-directory": flag,
    "-v, --verbose": flag,
  },
  operands: { rest: "read", last: "write", atLeast: 2 },
  examine: (call: ParsedCall) => (call.options.has("-d") ? [] : examineTargets(call)),
});
