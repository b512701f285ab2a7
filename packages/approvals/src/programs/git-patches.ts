import { attachedValue, flag, flagWith, value, type CommandDeclaration } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { literal } from "./declaration/word.ts";
import { COMPRESSION_LEVELS } from "./compressed-files.ts";
import { DRY_RUN, LOCAL, WORK_TREE } from "./git-effects.ts";

/** Subcommands that read and write patches and archives. */
export const PATCH_COMMANDS: Readonly<Record<string, CommandDeclaration>> = {
  /** `--unsafe-paths` and `--directory` write elsewhere, and `--apply` and `--reject` apply despite `--stat`: not declared. */
  apply: {
    options: {
      // Writes objects even if the patch is only checked.
      "-3, --3way": flagWith({ effects: LOCAL }),
      "--allow-empty": flag,
      "-C": value("number"),
      "--cached": flag,
      "--check": DRY_RUN,
      "--exclude": value("pattern"),
      "--ignore-space-change": flag,
      "--ignore-whitespace": flag,
      "--include": value("pattern"),
      "--index": flag,
      "-N, --intent-to-add": flag,
      "--no-add": flag,
      "--numstat": DRY_RUN,
      "-p": value("number"),
      "-q, --quiet": flag,
      "-R, --reverse": flag,
      "--recount": flag,
      "--stat": DRY_RUN,
      "--summary": DRY_RUN,
      "--unidiff-zero": flag,
      "-v, --verbose": flag,
      "--whitespace": value("data"),
      "-z": flag,
    },
    operands: { rest: "read" },
    effects: WORK_TREE,
  },
  /** `--remote` and `--exec` run programs elsewhere: not declared. */
  archive: {
    options: {
      "-0": flag,
      ...COMPRESSION_LEVELS,
      "--format": value(["tar", "tar.gz", "tgz", "zip"]),
      "-l, --list": flag,
      "-o, --output": value("write"),
      "--prefix": value("data"),
      "-v, --verbose": flag,
    },
    operands: { rest: "data" },
  },
  bundle: {
    subcommands: {
      create: {
        options: {
          "--all": flag,
          "--branches": flag,
          "-q, --quiet": flag,
          "--tags": flag,
        },
        operands: { first: ["output"], rest: "data", atLeast: 2 },
      },
      "list-heads": {
        operands: { first: ["read"], rest: "data", atLeast: 1 },
      },
      verify: {
        options: {
          "-q, --quiet": flag,
        },
        operands: { first: ["read"], atLeast: 1 },
      },
    },
  },
  "format-patch": {
    options: {
      "-NUMBER": value("number"),
      "--base": attachedValue("data"),
      "--cc": value("data"),
      "--cover-letter": flag,
      "--from": attachedValue("data"),
      "-k, --keep-subject": flag,
      "-M, --find-renames": attachedValue("number"),
      "-n": flag,
      "-N, --no-numbered": flag,
      "--numbered": flag,
      "-o, --output-directory": value("write"),
      "-p, --no-stat": flag,
      "--rfc": flag,
      "--root": flag,
      "--signoff": flag,
      "--start-number": value("number"),
      "--stat": attachedValue("data"),
      "--stdout": flag,
      "--subject-prefix": value("data"),
      "--thread": attachedValue("data"),
      "--to": value("data"),
      "-U, --unified": value("number"),
      "-v, --reroll-count": value("number"),
      "--zero-commit": flag,
    },
    operands: { rest: "data" },
    examine: examinePatchFolder,
  },
};

/** Files are named after the subjects of the commits. */
function examinePatchFolder({ options }: ParsedCall): readonly Effect[] {
  if (options.has("--stdout")) return [];
  const folder: readonly Effect[] = options.has("-o") ? [] : [{ kind: "write", path: literal(".") }];
  return [action("unpack"), ...folder];
}
