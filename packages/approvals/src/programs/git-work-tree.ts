import {
  attachedValue,
  type CommandDeclaration,
  flag,
  type OptionTable,
  value,
} from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { literal, type Word } from "./declaration/word.ts";
import { examineTargets } from "./copy-targets.ts";
import { DIFF_OPTIONS, LOG_OPTIONS } from "./git-diff-options.ts";
import { DRY_RUN, LOCAL, WORK_TREE } from "./git-effects.ts";

/** Options of `git stash push`. Without a subcommand, `git stash` is the same. */
const STASH_OPTIONS: OptionTable = {
  "-a, --all": flag,
  "-k, --keep-index": flag,
  "-m, --message": value("data"),
  "--no-keep-index": flag,
  "-p, --patch": flag,
  "-q, --quiet": flag,
  "-S, --staged": flag,
  "-u, --include-untracked": flag,
};

const stashRestore: CommandDeclaration = {
  options: { "--index": flag, "-q, --quiet": flag },
  operands: { first: ["data"] },
  effects: WORK_TREE,
};

/** Subcommands that change files of the work tree and the index. */
export const WORK_TREE_COMMANDS: Readonly<Record<string, CommandDeclaration>> = {
  add: {
    options: {
      "-A, --all, --no-ignore-removal": flag,
      "--chmod": value(["+x", "-x"]),
      "-e, --edit": flag,
      "-f, --force": flag,
      "-i, --interactive": flag,
      "--ignore-errors": flag,
      "--ignore-missing": flag,
      "--ignore-removal, --no-all": flag,
      "-n, --dry-run": DRY_RUN,
      "-N, --intent-to-add": flag,
      "-p, --patch": flag,
      "--refresh": flag,
      "--renormalize": flag,
      "--sparse": flag,
      "-u, --update": flag,
      "-v, --verbose": flag,
    },
    operands: { rest: "data" },
    effects: LOCAL,
  },
  /** `-f` discards changes: not declared. */
  checkout: {
    options: {
      "-2, --ours": flag,
      "-3, --theirs": flag,
      "-b": value("data"),
      "-B": value("data"),
      "--conflict": value("data"),
      "-d, --detach": flag,
      "--guess": flag,
      "-l": flag,
      "-m, --merge": flag,
      "--no-guess": flag,
      "--no-overlay": flag,
      "--no-progress": flag,
      "--no-track": flag,
      "--orphan": value("data"),
      "--overlay": flag,
      "-p, --patch": flag,
      "--progress": flag,
      "-q, --quiet": flag,
      "-t, --track": attachedValue("data"),
    },
    operands: { rest: "data" },
    effects: WORK_TREE,
    examine: examineRestoredPaths,
  },
  /** Only lists the files that would be removed. */
  clean: {
    options: {
      "-d": flag,
      "-e, --exclude": value("pattern"),
      "-n, --dry-run": flag,
      "-q, --quiet": flag,
      "-x": flag,
      "-X": flag,
    },
    operands: { rest: "data" },
    examine: ({ options }: ParsedCall) =>
      options.has("-n") ? [] : "it removes files that git does not know",
  },
  commit: {
    options: {
      "-a, --all": flag,
      "--allow-empty": flag,
      "--allow-empty-message": flag,
      "--amend": flag,
      "--author": value("data"),
      "-c, --reedit-message": value("data"),
      "-C, --reuse-message": value("data"),
      "--cleanup": value("data"),
      "--date": value("data"),
      // Still writes the objects of changed files.
      "--dry-run": flag,
      "-e, --edit": flag,
      "-F, --file": value("read"),
      "--fixup": value("data"),
      "-i, --include": flag,
      "--long": flag,
      "-m, --message": value("data"),
      "-n, --no-verify": flag,
      "--no-edit": flag,
      "--no-gpg-sign": flag,
      "--no-post-rewrite": flag,
      "--no-signoff": flag,
      "--no-status": flag,
      "-o, --only": flag,
      "-p, --patch": flag,
      "-q, --quiet": flag,
      "--reset-author": flag,
      "-s, --signoff": flag,
      "--squash": value("data"),
      "--status": flag,
      "-t, --template": value("read"),
      "--trailer": value("data"),
      "-u, --untracked-files": attachedValue("data"),
      "-v, --verbose": flag,
    },
    operands: { rest: "data" },
    effects: LOCAL,
  },
  mv: {
    options: {
      "-f, --force": flag,
      "-k": flag,
      "--sparse": flag,
      "-v, --verbose": flag,
    },
    operands: { rest: "delete-tree", last: "write", atLeast: 2 },
    effects: LOCAL,
    examine: examineTargets,
  },
  /** `--hard`, `--merge` and `--keep` discard changes: not declared. */
  reset: {
    options: {
      "--mixed": flag,
      "-N, --intent-to-add": flag,
      "--no-refresh": flag,
      "-p, --patch": flag,
      "-q, --quiet": flag,
      "--soft": flag,
    },
    operands: { rest: "data" },
    effects: LOCAL,
  },
  restore: {
    options: {
      "-2, --ours": flag,
      "-3, --theirs": flag,
      "--conflict": value("data"),
      "--ignore-unmerged": flag,
      "-m, --merge": flag,
      "--no-overlay": flag,
      "--overlay": flag,
      "-p, --patch": flag,
      "-q, --quiet": flag,
      "-s, --source": value("data"),
      "-S, --staged": flag,
      "-W, --worktree": flag,
    },
    operands: { rest: "data", atLeast: 1 },
    effects: LOCAL,
    examine: (call: ParsedCall) =>
      call.options.has("-S") && !call.options.has("-W") ? [] : restoreWorkTree(call),
  },
  rm: {
    options: {
      "--cached": flag,
      "-f, --force": flag,
      "--ignore-unmatch": flag,
      "-n, --dry-run": DRY_RUN,
      "-q, --quiet": flag,
      "-r": flag,
      "--sparse": flag,
    },
    operands: { rest: "data", atLeast: 1 },
    effects: LOCAL,
    examine: examineRemovedPaths,
  },
  /** `drop` and `clear` discard changes: not declared. */
  stash: {
    options: STASH_OPTIONS,
    effects: WORK_TREE,
    subcommands: {
      apply: stashRestore,
      branch: {
        operands: { first: ["data", "data"], atLeast: 1 },
        effects: WORK_TREE,
      },
      list: {
        options: {
          ...LOG_OPTIONS,
        },
      },
      pop: stashRestore,
      push: {
        options: STASH_OPTIONS,
        operands: { rest: "data" },
        effects: WORK_TREE,
      },
      save: {
        options: {
          "-k, --keep-index": flag,
          "-q, --quiet": flag,
          "-u, --include-untracked": flag,
        },
        operands: { rest: "data" },
        effects: WORK_TREE,
      },
      show: {
        options: {
          ...DIFF_OPTIONS,
          "--include-untracked": flag,
          "--only-untracked": flag,
        },
        operands: { first: ["data"] },
      },
    },
  },
  /** `-f` and `--discard-changes` discard changes: not declared. */
  switch: {
    options: {
      "-c, --create": value("data"),
      "-C, --force-create": value("data"),
      "--conflict": value("data"),
      "-d, --detach": flag,
      "--guess": flag,
      "-m, --merge": flag,
      "--no-guess": flag,
      "--no-progress": flag,
      "--no-track": flag,
      "--orphan": value("data"),
      "--progress": flag,
      "-q, --quiet": flag,
      "-t, --track": attachedValue("data"),
    },
    operands: { rest: "data" },
    effects: WORK_TREE,
  },
  "update-index": {
    options: {
      "--again, -g": flag,
      "--assume-unchanged": flag,
      "--chmod": value(["+x", "-x"]),
      "--no-assume-unchanged": flag,
      "--no-skip-worktree": flag,
      "-q": flag,
      "--really-refresh": flag,
      "--refresh": flag,
      "--skip-worktree": flag,
    },
    operands: { rest: "data" },
    effects: LOCAL,
  },
};

/** Paths that cover the whole work tree or are outside it. Includes all magic pathspecs (`:/`), of which there are many. */
const TOO_WIDE = /^(?:\.\/*|[:/~].*|(?:.*\/)?\.\.(?:\/.*)?)$/s;

/** Restoring a path discards its changes, so it must be named. */
function examineRestoredPaths({ operands }: ParsedCall): readonly Effect[] | string {
  const tooWide = operands.find(
    ({ text }) => text === undefined || TOO_WIDE.test(text) || /^(?:\*|\.\/\*)+$/.test(text),
  );
  return tooWide === undefined ? [] : `"${tooWide.text ?? "…"}" may throw all changes away`;
}

function restoreWorkTree(call: ParsedCall): readonly Effect[] | string {
  const examined = examineRestoredPaths(call);
  return typeof examined === "string" ? examined : [action("unpack")];
}

/** git expands patterns itself. */
function examineRemovedPaths({ operands, options }: ParsedCall): readonly Effect[] | string {
  if (options.has("--cached")) return [];
  const effects: Effect[] = [];
  for (const { text } of operands) {
    if (text === undefined || text.startsWith(":")) return "a path is only known at run time";
    const path: Word = /[*?[\\]/.test(text) ? { text, isGlob: true } : literal(text);
    effects.push({ kind: "delete", path, isRecursive: options.has("-r") || path.isGlob === true });
  }
  return effects;
}
