import { attachedValue, flag, flagWith, value, type CommandDeclaration } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { literal, type Word } from "./declaration/word.ts";
import { examineTargets } from "./copy-targets.ts";
import { DIFF_OPTIONS, LOG_OPTIONS } from "./git-diff-options.ts";

/** Changes commits, references and the index. */
const LOCAL: readonly Effect[] = [action("git-local")];

/** Changes files of the work tree as well, with names that only the commits know. */
const WORK_TREE: readonly Effect[] = [action("git-local"), action("unpack")];

const DRY_RUN = flagWith({ replacesEffects: true });

/** Subcommands that change the local repository. */
export const CHANGE_COMMANDS: Readonly<Record<string, CommandDeclaration>> = {
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
  am: {
    options: {
      "-3, --3way": flag,
      "--abort": flag,
      "--continue, -r, --resolved": flag,
      "--ignore-date": flag,
      "--ignore-whitespace": flag,
      "-k, --keep": flag,
      "-p": value("number"),
      "-q, --quiet": flag,
      "--quit": flag,
      "-s, --signoff": flag,
      "--skip": flag,
      "--whitespace": value("data"),
    },
    operands: { rest: "read" },
    effects: WORK_TREE,
  },
  /** `--unsafe-paths` and `--directory` write elsewhere, and `--apply` and `--reject` apply in spite of `--stat`: not declared. */
  apply: {
    options: {
      "-3, --3way": flag,
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
      "-1": flag,
      "-2": flag,
      "-3": flag,
      "-4": flag,
      "-5": flag,
      "-6": flag,
      "-7": flag,
      "-8": flag,
      "-9": flag,
      "--format": value(["tar", "tar.gz", "tgz", "zip"]),
      "-l, --list": flag,
      "-o, --output": value("write"),
      "--prefix": value("data"),
      "-v, --verbose": flag,
    },
    operands: { rest: "data" },
  },
  bisect: {
    subcommands: {
      bad: {
        aliases: ["new"],
        operands: { rest: "data" },
        effects: WORK_TREE,
      },
      good: {
        aliases: ["old"],
        operands: { rest: "data" },
        effects: WORK_TREE,
      },
      log: {},
      reset: {
        operands: { rest: "data" },
        effects: WORK_TREE,
      },
      run: {
        syntax: "posix",
        operands: { rest: "command", atLeast: 1 },
        effects: WORK_TREE,
      },
      skip: {
        operands: { rest: "data" },
        effects: WORK_TREE,
      },
      start: {
        options: {
          "--first-parent": flag,
          "--no-checkout": flag,
        },
        operands: { rest: "data" },
        effects: WORK_TREE,
      },
    },
  },
  branch: {
    options: {
      "-a, --all": flag,
      "--abbrev": attachedValue("number"),
      "--color": attachedValue("data"),
      "--column": attachedValue("data"),
      "--contains": value("data"),
      "--copy, -c": flag,
      "-d, --delete": flag,
      "-D": flag,
      "-f, --force": flag,
      "--format": value("data"),
      "-i, --ignore-case": flag,
      "-l, --list": flag,
      "-m, --move": flag,
      "-M": flag,
      "--merged": attachedValue("data"),
      "--no-color": flag,
      "--no-column": flag,
      "--no-contains": value("data"),
      "--no-merged": attachedValue("data"),
      "--no-track": flag,
      "--points-at": value("data"),
      "-q, --quiet": flag,
      "-r, --remotes": flag,
      "--show-current": flag,
      "--sort": value("data"),
      "-t, --track": attachedValue("data"),
      "-u, --set-upstream-to": value("data"),
      "--unset-upstream": flag,
      "-v, --verbose": flag,
    },
    operands: { rest: "data" },
    examine: (call: ParsedCall) =>
      lists(
        call,
        ["-l", "--contains", "--no-contains", "--points-at", "--merged", "--no-merged"],
        ["-u", "--unset-upstream"],
      )
        ? []
        : LOCAL,
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
  /** `-f` throws changes away: not declared. */
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
  "cherry-pick": {
    options: {
      "--abort": flag,
      "--allow-empty": flag,
      "--allow-empty-message": flag,
      "--cleanup": value("data"),
      "--continue": flag,
      "-e, --edit": flag,
      "--ff": flag,
      "--keep-redundant-commits": flag,
      "-m, --mainline": value("number"),
      "-n, --no-commit": flag,
      "--no-edit": flag,
      "--quit": flag,
      "-s, --signoff": flag,
      "--skip": flag,
      "--strategy": value(["octopus", "ort", "ours", "recursive", "resolve", "subtree"]),
      "-x": flag,
      "-X, --strategy-option": value("data"),
    },
    operands: { rest: "data" },
    effects: WORK_TREE,
  },
  /** Only a list of what would be removed. */
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
      "--dry-run": DRY_RUN,
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
  /** `--prune` loses objects: not declared. */
  gc: {
    options: {
      "--auto": flag,
      "-q, --quiet": flag,
    },
    effects: LOCAL,
  },
  /** `--template` brings hooks, and `--bare` and `--separate-git-dir` make repositories in plain folders: not declared. */
  init: {
    options: {
      "-b, --initial-branch": value("data"),
      "-q, --quiet": flag,
    },
    operands: { first: ["write"] },
    effects: LOCAL,
  },
  /** An unknown strategy would be a program: only git's own are accepted. */
  merge: {
    options: {
      "--abort": flag,
      "--allow-unrelated-histories": flag,
      "--autostash": flag,
      "--cleanup": value("data"),
      "--commit": flag,
      "--continue": flag,
      "-e, --edit": flag,
      "-F, --file": value("read"),
      "--ff": flag,
      "--ff-only": flag,
      "--into-name": value("data"),
      "--log": attachedValue("number"),
      "-m, --message": value("data"),
      "-n, --no-stat": flag,
      "--no-commit": flag,
      "--no-edit": flag,
      "--no-ff": flag,
      "--no-squash": flag,
      "--no-verify": flag,
      "--progress": flag,
      "-q, --quiet": flag,
      "--quit": flag,
      "--rerere-autoupdate": flag,
      "-s, --strategy": value(["octopus", "ort", "ours", "recursive", "resolve", "subtree"]),
      "--signoff": flag,
      "--squash": flag,
      "--stat": flag,
      "-v, --verbose": flag,
      "-X, --strategy-option": value("data"),
    },
    operands: { rest: "data" },
    effects: WORK_TREE,
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
  notes: {
    subcommands: {
      add: {
        options: {
          "-f, --force": flag,
          "-F, --file": value("read"),
          "-m, --message": value("data"),
        },
        operands: { first: ["data"] },
        effects: LOCAL,
      },
      list: {
        operands: { first: ["data"] },
      },
      show: {
        operands: { first: ["data"] },
      },
    },
  },
  /** `-x` runs a command for each commit: not declared. `-i` opens an editor, which can run anything. */
  rebase: {
    options: {
      "--abort": flag,
      "--apply": flag,
      "--autosquash": flag,
      "--autostash": flag,
      "--committer-date-is-author-date": flag,
      "--continue": flag,
      "--empty": value("data"),
      "-f, --force-rebase, --no-ff": flag,
      "--fork-point": flag,
      "-i, --interactive": flagWith({ effects: [action("project-code")] }),
      "--ignore-whitespace": flag,
      "--keep-base": flag,
      "-m, --merge": flag,
      "-n, --no-stat": flag,
      "--no-autosquash": flag,
      "--no-autostash": flag,
      "--no-fork-point": flag,
      "--no-verify": flag,
      "--onto": value("data"),
      "-q, --quiet": flag,
      "--quit": flag,
      "-r, --rebase-merges": attachedValue("data"),
      "--reapply-cherry-picks": flag,
      "--rerere-autoupdate": flag,
      "--reset-author-date": flag,
      "--root": flag,
      "-s, --strategy": value(["octopus", "ort", "ours", "recursive", "resolve", "subtree"]),
      "--show-current-patch": flag,
      "--signoff": flag,
      "--skip": flag,
      "--stat": flag,
      "--update-refs": flag,
      "-v, --verbose": flag,
      "--whitespace": value("data"),
      "-X, --strategy-option": value("data"),
    },
    operands: { rest: "data" },
    effects: WORK_TREE,
  },
  /** `--hard`, `--merge` and `--keep` throw changes away: not declared. */
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
  revert: {
    options: {
      "--abort": flag,
      "--cleanup": value("data"),
      "--continue": flag,
      "-e, --edit": flag,
      "-m, --mainline": value("number"),
      "-n, --no-commit": flag,
      "--no-edit": flag,
      "--quit": flag,
      "--reference": flag,
      "-s, --signoff": flag,
      "--skip": flag,
      "--strategy": value(["octopus", "ort", "ours", "recursive", "resolve", "subtree"]),
      "-X, --strategy-option": value("data"),
    },
    operands: { rest: "data" },
    effects: WORK_TREE,
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
  /** `drop` and `clear` lose changes: not declared. */
  stash: {
    options: {
      "-a, --all": flag,
      "-k, --keep-index": flag,
      "-m, --message": value("data"),
      "--no-keep-index": flag,
      "-p, --patch": flag,
      "-q, --quiet": flag,
      "-S, --staged": flag,
      "-u, --include-untracked": flag,
    },
    effects: WORK_TREE,
    subcommands: {
      apply: {
        options: {
          "--index": flag,
          "-q, --quiet": flag,
        },
        operands: { first: ["data"] },
        effects: WORK_TREE,
      },
      branch: {
        operands: { first: ["data", "data"], atLeast: 1 },
        effects: WORK_TREE,
      },
      list: {
        options: {
          ...LOG_OPTIONS,
        },
      },
      pop: {
        options: {
          "--index": flag,
          "-q, --quiet": flag,
        },
        operands: { first: ["data"] },
        effects: WORK_TREE,
      },
      push: {
        options: {
          "-a, --all": flag,
          "-k, --keep-index": flag,
          "-m, --message": value("data"),
          "--no-keep-index": flag,
          "-p, --patch": flag,
          "-q, --quiet": flag,
          "-S, --staged": flag,
          "-u, --include-untracked": flag,
        },
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
  /** `-f` and `--discard-changes` throw changes away: not declared. */
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
  tag: {
    options: {
      "-a, --annotate": flag,
      "--cleanup": value("data"),
      "--color": attachedValue("data"),
      "--column": attachedValue("data"),
      "--contains": value("data"),
      "-d, --delete": flag,
      "-f, --force": flag,
      "-F, --file": value("read"),
      "--format": value("data"),
      "-i, --ignore-case": flag,
      "-l, --list": flag,
      "-m, --message": value("data"),
      "--merged": value("data"),
      "-n": attachedValue("number"),
      "--no-column": flag,
      "--no-contains": value("data"),
      "--no-merged": value("data"),
      "--points-at": value("data"),
      "--sort": value("data"),
    },
    operands: { rest: "data" },
    examine: (call: ParsedCall) =>
      lists(call, ["-l", "-n", "--contains", "--no-contains", "--points-at", "--merged", "--no-merged"], [])
        ? []
        : LOCAL,
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
  /** `remove` and `prune` lose changes: not declared. */
  worktree: {
    subcommands: {
      add: {
        options: {
          "-b": value("data"),
          "-B": value("data"),
          "-d, --detach": flag,
          "-f, --force": flag,
          "--lock": flag,
          "--no-checkout": flag,
          "-q, --quiet": flag,
        },
        operands: { first: ["write", "data"], atLeast: 1 },
        effects: WORK_TREE,
      },
      list: {
        options: {
          "--porcelain": flag,
          "-v, --verbose": flag,
          "-z": flag,
        },
      },
    },
  },
};

/** Paths that cover the whole work tree or lie outside it. Magic pathspecs (`:/`) are too many to know. */
const TOO_WIDE = /^(?:\.\/*|[:/~].*|(?:.*\/)?\.\.(?:\/.*)?)$/s;

/** Restoring a path throws its changes away: it must be named. */
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

/** Git expands patterns by itself. */
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

/** Whether a call of `branch` or `tag` only prints. An operand creates something, unless an option selects the list. */
function lists(
  { operands, options }: ParsedCall,
  listing: readonly string[],
  changing: readonly string[],
): boolean {
  const changes = ["--copy", "-d", "-D", "-f", "-m", "-M", "-a", "-F", ...changing].filter((name) =>
    options.has(name),
  );
  if (changes.some((name) => name !== "-a")) return false;
  return operands.length === 0 || listing.some((name) => options.has(name));
}

/** Files are named after the subjects of the commits. */
function examinePatchFolder({ options }: ParsedCall): readonly Effect[] {
  if (options.has("--stdout")) return [];
  const folder: readonly Effect[] = options.has("-o") ? [] : [{ kind: "write", path: literal(".") }];
  return [action("unpack"), ...folder];
}
