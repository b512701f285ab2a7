import { attachedValue, flag, value, type CommandDeclaration } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { PLAIN_FORMAT } from "./git-diff-options.ts";
import { LOCAL, WORK_TREE } from "./git-effects.ts";

/** Subcommands that change references and the repository itself. */
export const REFERENCE_COMMANDS: Readonly<Record<string, CommandDeclaration>> = {
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
      "--format": value(PLAIN_FORMAT),
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
  /** `--prune` removes objects: not declared. */
  gc: {
    options: {
      "--auto": flag,
      "-q, --quiet": flag,
    },
    effects: LOCAL,
  },
  /** `--template` installs hooks, and `--bare` and `--separate-git-dir` create repositories in plain folders: not declared. */
  init: {
    options: {
      "-b, --initial-branch": value("data"),
      "-q, --quiet": flag,
    },
    operands: { first: ["write"] },
    effects: LOCAL,
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
      "--format": value(PLAIN_FORMAT),
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
  /** `remove` and `prune` may discard changes: not declared. */
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

/** Whether a call of `branch` or `tag` only prints. An operand creates something, unless an option selects listing. */
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
