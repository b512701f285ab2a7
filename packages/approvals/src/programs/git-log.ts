import {
  attachedValue,
  type CommandDeclaration,
  flag,
  type OptionTable,
  value,
} from "./declaration/declaration.ts";
import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { DIFF_OPTIONS, LOG_OPTIONS, PLAIN_FORMAT } from "./git-diff-options.ts";

/** A command that lists commits. */
const log: CommandDeclaration = { options: LOG_OPTIONS, operands: { rest: "data" } };

/** Options for files with merge conflicts, of which the index has several versions. */
const UNMERGED_OPTIONS: OptionTable = {
  "-0": flag,
  "-1": flag,
  "-2": flag,
  "-3": flag,
  "--base": flag,
  "--ours": flag,
  "-q": flag,
  "--theirs": flag,
};

/** Subcommands that read commits and compare them. */
export const LOG_COMMANDS: Readonly<Record<string, CommandDeclaration>> = {
  /** `--contents` and `-S` read other files: not declared. */
  blame: {
    aliases: ["annotate"],
    options: {
      "--abbrev": attachedValue("number"),
      "-b": flag,
      "-c": flag,
      "-C": attachedValue("number"),
      "--color-by-age": flag,
      "--color-lines": flag,
      "--date": value("data"),
      "-e, --show-email": flag,
      "-f, --show-name": flag,
      "--first-parent": flag,
      "--ignore-rev": value("data"),
      "--ignore-revs-file": value("read"),
      "--incremental": flag,
      "-l": flag,
      "-L": value("data"),
      "--line-porcelain": flag,
      "-M": attachedValue("number"),
      "--minimal": flag,
      "-n, --show-number": flag,
      "-p, --porcelain": flag,
      "--progress": flag,
      "--root": flag,
      "-s": flag,
      "--score-debug": flag,
      "--show-stats": flag,
      "--since": value("data"),
      "-t": flag,
      "-w": flag,
    },
    operands: { rest: "data" },
  },
  cherry: {
    options: {
      "--abbrev": attachedValue("number"),
      "-v": flag,
    },
    operands: { rest: "data" },
  },
  /** Two paths are compared as files outside a repository, or if one of them is outside it. */
  diff: {
    options: {
      ...DIFF_OPTIONS,
      ...UNMERGED_OPTIONS,
      "-c": flag,
      "--cached, --staged": flag,
      "--cc": flag,
      "--merge-base": flag,
    },
    operands: { rest: "data" },
    examine: examineComparedFiles,
  },
  "diff-files": {
    options: { ...DIFF_OPTIONS, ...UNMERGED_OPTIONS },
    operands: { rest: "data" },
  },
  "diff-index": {
    options: {
      ...DIFF_OPTIONS,
      "--cached": flag,
      "-m": flag,
      "--merge-base": flag,
    },
    operands: { rest: "data" },
  },
  "diff-tree": {
    options: {
      ...DIFF_OPTIONS,
      "-c": flag,
      "--cc": flag,
      "--format": attachedValue(PLAIN_FORMAT),
      "-m": flag,
      "--merge-base": flag,
      "--no-commit-id": flag,
      "--pretty": attachedValue(PLAIN_FORMAT),
      "-r": flag,
      "--root": flag,
      "--stdin": flag,
      "-t": flag,
      "-v": flag,
    },
    operands: { rest: "data" },
  },
  log,
  "range-diff": {
    options: {
      ...DIFF_OPTIONS,
      "--creation-factor": value("number"),
      "--left-only": flag,
      "--no-dual-color": flag,
      "--right-only": flag,
    },
    operands: { rest: "data" },
  },
  /** Without a subcommand, or with `show`, `exists` or `list`. */
  reflog: {
    ...log,
    examine: ({ operands }: ParsedCall) =>
      /^(?:delete|drop|expire|write)$/.test(operands[0]?.text ?? "")
        ? "it changes the history of references"
        : [],
  },
  "rev-list": {
    options: {
      ...LOG_OPTIONS,
      "--disk-usage": flag,
      "--missing": attachedValue("data"),
      "--no-object-names": flag,
      "--timestamp": flag,
      "--use-bitmap-index": flag,
    },
    operands: { rest: "data" },
  },
  shortlog: {
    options: {
      "--all": flag,
      "--author": value("pattern"),
      "--branches": attachedValue("pattern"),
      "-c, --committer": flag,
      "-e, --email": flag,
      "--first-parent": flag,
      "--format": attachedValue(PLAIN_FORMAT),
      "--grep": value("pattern"),
      "--group": value("data"),
      "--merges": flag,
      "-n": flag,
      "--no-merges": flag,
      "--numbered": flag,
      "-s, --summary": flag,
      "--since, --after": value("data"),
      "--until, --before": value("data"),
      "-w": attachedValue("data"),
    },
    operands: { rest: "data" },
  },
  show: log,
  whatchanged: log,
};

function examineComparedFiles({ operands }: ParsedCall): readonly Effect[] | string {
  return operands.map((path) => ({ kind: "read", path }));
}
