import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";
import { literal } from "./declaration/word.ts";

/** `-e` runs `ed`, `-g` fetches from version control, and `-o`, `-r` and `-z` name other outputs: not declared. */
export const patch = declareProgram({
  names: ["patch"],
  options: {
    ...HELP,
    "-b, --backup": flag,
    "-c, --context": flag,
    "-d, --directory": value("cwd"),
    "--dry-run": flag,
    "-E, --remove-empty-files": flag,
    "-f, --force": flag,
    "-F, --fuzz": value("number"),
    "-i, --input": value("read"),
    "-l, --ignore-whitespace": flag,
    "-n, --normal": flag,
    "-N, --forward": flag,
    "--no-backup-if-mismatch": flag,
    "-p, --strip": value("number"),
    "-R, --reverse": flag,
    "-s, --quiet, --silent": flag,
    "-t, --batch": flag,
    "-u, --unified": flag,
    "--verbose": flag,
  },
  operands: { first: ["read-write", "read"] },
  effects: [action("unpack"), { kind: "write", path: literal(".") }],
});
