import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import { examineTargets } from "./copy-targets.ts";

/** A source is removed, with everything below it. Backups (`-b`, `-S`) are not declared. */
export const mv = declareProgram({
  names: ["mv"],
  options: {
    ...HELP,
    "-f, --force": flag,
    "-i, --interactive": flag,
    "-n, --no-clobber": flag,
    "-t, --target-directory": value("write", { operands: { rest: "delete-tree", atLeast: 1 } }),
    "-T, --no-target-directory": flag,
    "-u, --update": flag,
    "-v, --verbose": flag,
  },
  operands: { rest: "delete-tree", last: "write", atLeast: 2 },
  examine: examineTargets,
});
