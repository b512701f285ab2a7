import { attachedValue, flag, value, type CommandDeclaration } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { literal, type Word } from "./declaration/word.ts";
import { isLiteral } from "./declaration/path-words.ts";

/** Subcommands that exchange data with other repositories. */
export const SYNCHRONIZE_COMMANDS: Readonly<Record<string, CommandDeclaration>> = {
  /** `--template` and `-c` add configuration, `-u` runs a program, and `--bare` and `--mirror` create repositories in plain folders: not declared. */
  clone: {
    options: {
      "-4, --ipv4": flag,
      "-6, --ipv6": flag,
      "-b, --branch": value("data"),
      "--depth": value("number"),
      "--filter": value("data"),
      "-j, --jobs": value("number"),
      "-n": flag,
      "--no-checkout": flag,
      "--no-recurse-submodules": flag,
      "--no-shallow-submodules": flag,
      "--no-single-branch": flag,
      "--no-tags": flag,
      "-o, --origin": value("data"),
      "--progress": flag,
      "-q, --quiet": flag,
      "--recurse-submodules, --recursive": attachedValue("data", { effects: [action("git-fetch")] }),
      "--shallow-since": value("data"),
      "--shallow-submodules": flag,
      "--single-branch": flag,
      "--sparse": flag,
      "-v, --verbose": flag,
    },
    operands: { first: ["data", "write"], atLeast: 1 },
    effects: [action("unpack")],
    examine: examineSource,
  },
  fetch: {
    options: {
      "-4, --ipv4": flag,
      "-6, --ipv6": flag,
      "-a, --append": flag,
      "--all": flag,
      "--atomic": flag,
      "--deepen": value("number"),
      "--depth": value("number"),
      "--dry-run": flag,
      "-f, --force": flag,
      "--filter": value("data"),
      "-j, --jobs": value("number"),
      "-k, --keep": flag,
      "-n, --no-tags": flag,
      "--no-auto-gc": flag,
      "--no-recurse-submodules": flag,
      "-p, --prune": flag,
      "-P, --prune-tags": flag,
      "--progress": flag,
      "-q, --quiet": flag,
      "--recurse-submodules": attachedValue("data"),
      "--refetch": flag,
      "--set-upstream": flag,
      "--shallow-exclude": value("data"),
      "--shallow-since": value("data"),
      "-t, --tags": flag,
      "-u, --update-head-ok": flag,
      "--unshallow": flag,
      "--update-shallow": flag,
      "-v, --verbose": flag,
    },
    operands: { first: ["remote"], rest: "data" },
    effects: [action("git-fetch")],
  },
  "ls-remote": {
    options: {
      "--branches": flag,
      "--exit-code": flag,
      "-h, --heads": flag,
      "-q, --quiet": flag,
      "--refs": flag,
      "--sort": value("data"),
      "--symref": flag,
      "-t, --tags": flag,
    },
    operands: { first: ["data"], rest: "data" },
    examine: examineListedRemote,
  },
  pull: {
    options: {
      "-4, --ipv4": flag,
      "-6, --ipv6": flag,
      "--all": flag,
      "--allow-unrelated-histories": flag,
      "--autostash": flag,
      "--commit": flag,
      "--depth": value("number"),
      "-f, --force": flag,
      "--ff": flag,
      "--ff-only": flag,
      "-j, --jobs": value("number"),
      "-n, --no-stat": flag,
      "--no-autostash": flag,
      "--no-commit": flag,
      "--no-edit": flag,
      "--no-ff": flag,
      "--no-rebase": flag,
      "--no-recurse-submodules": flag,
      "--no-tags": flag,
      "-p, --prune": flag,
      "--progress": flag,
      "-q, --quiet": flag,
      "-r, --rebase": attachedValue(["false", "merges", "true"]),
      "--recurse-submodules": attachedValue("data"),
      "-s, --strategy": value(["octopus", "ort", "ours", "recursive", "resolve", "subtree"]),
      "--set-upstream": flag,
      "--squash": flag,
      "--stat": flag,
      "-t, --tags": flag,
      "--unshallow": flag,
      "-v, --verbose": flag,
      "-X, --strategy-option": value("data"),
    },
    operands: { first: ["remote"], rest: "data" },
    effects: [action("git-fetch"), action("git-local"), action("unpack")],
  },
  /** `--force`, `--mirror`, `--delete` and `--prune` may remove other people's commits: not declared. */
  push: {
    options: {
      "-4, --ipv4": flag,
      "-6, --ipv6": flag,
      "--all, --branches": flag,
      "--atomic": flag,
      "--follow-tags": flag,
      "--force-if-includes": flag,
      "--force-with-lease": attachedValue("data"),
      "-n, --dry-run": flag,
      "--no-force-with-lease": flag,
      "--no-progress": flag,
      "--no-recurse-submodules": flag,
      "--no-signed": flag,
      "--no-thin": flag,
      "--no-verify": flag,
      "-o, --push-option": value("data"),
      "--porcelain": flag,
      "--progress": flag,
      "-q, --quiet": flag,
      "--recurse-submodules": value(["check", "no", "on-demand"]),
      "--tags": flag,
      "--thin": flag,
      "-u, --set-upstream": flag,
      "-v, --verbose": flag,
    },
    operands: { first: ["remote"], rest: "data" },
    effects: [action("git-push")],
    examine: examineReferences,
  },
  remote: {
    operands: {},
    options: {
      "-v, --verbose": flag,
    },
    subcommands: {
      /** Later pushes go to this address, so adding it counts as sending there. */
      add: {
        options: {
          "-f": flag,
          "-m": value("data"),
          "--no-tags": flag,
          "-t": value("data"),
          "--tags": flag,
        },
        operands: { first: ["remote", "data"], atLeast: 2 },
        effects: [action("git-local")],
        examine: examineAddedRemote,
      },
      "get-url": {
        options: {
          "--all": flag,
          "--push": flag,
        },
        operands: { first: ["remote"], atLeast: 1 },
      },
      prune: {
        options: {
          "-n, --dry-run": flag,
        },
        operands: { rest: "remote", atLeast: 1 },
        effects: [action("git-fetch")],
      },
      remove: {
        aliases: ["rm"],
        operands: { first: ["remote"], atLeast: 1 },
        effects: [action("git-local")],
      },
      rename: {
        operands: { first: ["remote", "remote"], atLeast: 2 },
        effects: [action("git-local")],
      },
      "set-url": {
        options: {
          "--push": flag,
        },
        operands: { first: ["remote", "data"], atLeast: 2 },
        effects: [action("git-local")],
        examine: examineAddedRemote,
      },
      show: {
        options: {
          "-n": flag,
        },
        operands: { rest: "remote" },
        effects: [action("git-fetch")],
      },
      update: {
        options: {
          "-p, --prune": flag,
        },
        operands: { rest: "remote" },
        effects: [action("git-fetch")],
      },
    },
  },
  /** `foreach` runs a command in folders that are known only at run time, and `add` adds new addresses: not declared. */
  submodule: {
    options: {
      "--cached": flag,
      "-q, --quiet": flag,
    },
    subcommands: {
      init: {
        operands: { rest: "data" },
        effects: [action("git-local")],
      },
      status: {
        options: {
          "--cached": flag,
          "--recursive": flag,
        },
        operands: { rest: "data" },
      },
      summary: {
        options: {
          "--cached": flag,
          "--files": flag,
          "-n, --summary-limit": value("number"),
        },
        operands: { rest: "data" },
      },
      sync: {
        options: {
          "--recursive": flag,
        },
        operands: { rest: "data" },
        effects: [action("git-local")],
      },
      update: {
        options: {
          "--checkout": flag,
          "--depth": value("number"),
          "--init": flag,
          "-j, --jobs": value("number"),
          "--merge": flag,
          "-N, --no-fetch": flag,
          "--no-recommend-shallow": flag,
          "--progress": flag,
          "--rebase": flag,
          "--recommend-shallow": flag,
          "--recursive": flag,
          "--remote": flag,
          "--single-branch": flag,
        },
        operands: { rest: "data" },
        effects: [action("git-fetch"), action("git-local"), action("unpack")],
      },
    },
  },
};

/** `+branch` overwrites and `:branch` deletes. */
function examineReferences({ operands }: ParsedCall): readonly Effect[] | string {
  const rewriting = operands.slice(1).find(({ text }) => text === undefined || /^[+:]/.test(text));
  return rewriting === undefined ? [] : `"${rewriting.text ?? "…"}" may overwrite or delete a reference`;
}

function examineSource({ operands: [source, folder] }: ParsedCall): readonly Effect[] | string {
  const target = addressOf(source);
  if (target === undefined) return `"${source?.text ?? "…"}" is not an https or ssh address`;
  const name = /([^/:]+?)(?:\.git)?\/*$/.exec(target.text ?? "")?.[1] ?? ".";
  const written: readonly Effect[] = folder === undefined ? [{ kind: "write", path: literal(name) }] : [];
  return [{ kind: "connect", target, sends: false }, ...written];
}

function examineListedRemote({ operands: [remote] }: ParsedCall): readonly Effect[] | string {
  if (remote === undefined || /^[A-Za-z0-9][\w.-]*$/.test(remote.text ?? "")) return [action("git-fetch")];
  const target = addressOf(remote);
  return target === undefined
    ? "the remote is not an https or ssh address"
    : [{ kind: "connect", target, sends: false }];
}

function examineAddedRemote({ operands: [, address] }: ParsedCall): readonly Effect[] | string {
  const target = addressOf(address);
  return target === undefined
    ? "the remote is not an https or ssh address"
    : [{ kind: "connect", target, sends: true }];
}

/** An https or ssh address as a URL. Paths and `ext::` are not understood. */
function addressOf(word: Word | undefined): Word | undefined {
  if (!isLiteral(word)) return undefined;
  if (/^(?:https|ssh):\/\/[^/\s-][^\s]*$/.test(word.text)) return word;
  const [, host, path] = /^((?:\w[\w.-]*@)?[A-Za-z0-9][\w.-]*):((?!:|\/\/)[^\s:]+)$/.exec(word.text) ?? [];
  return host === undefined || path === undefined
    ? undefined
    : literal(`ssh://${host}/${path.replace(/^\//, "")}`);
}
