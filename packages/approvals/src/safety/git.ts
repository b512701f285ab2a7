import { cautioned, denied, type Finding } from "../finding.ts";
import { hasOption, readOptions, type Options } from "../shell/options.ts";
import { isUnknown, type Value } from "../shell/value.ts";
import type { Check, CheckTable } from "./check.ts";

/** git's own options, which come before the subcommand. */
export function gitSubcommand(args: readonly Value[]): {
  verb: Value | undefined;
  rest: readonly Value[];
  outer: Options;
} {
  const outer = readOptions(args, {
    short: "Cc",
    long: ["--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix"],
    stopsAtOperand: true,
  });
  const [verb, ...rest] = outer.operands;
  return { verb, rest, outer };
}

const git: Check = ({ argv }) => {
  const { verb, rest } = gitSubcommand(argv.slice(1));
  if (verb === undefined) return undefined;
  if (isUnknown(verb)) return cautioned("dynamic-name", "the git command is known only when it runs");
  const options = readOptions(rest, {
    short: "m",
    long: ["--message", "--author", "--date", "--format", "--pretty", "--repo", "-o"],
  });
  return destroys(verb.text, options, rest);
};

function destroys(verb: string, options: Options, rest: readonly Value[]): Finding | undefined {
  const [first, second] = options.operands.map(({ text }) => text);
  switch (verb) {
    case "worktree":
      return first === "remove" || first === "prune"
        ? denied("git-worktree", `git worktree ${first} deletes a working tree`)
        : undefined;
    case "reset":
      if (hasOption(options, "--hard"))
        return denied("git-reset-hard", "git reset --hard throws uncommitted work away");
      return options.uncertain
        ? cautioned("unresolved-target", "git reset with options that are not known")
        : undefined;
    case "push":
      return judgePush(options);
    case "filter-branch":
    case "filter-repo":
    case "fast-import":
      return denied("git-history-rewrite", `git ${verb} rewrites the history`);
    case "reflog":
      return first === "expire" || first === "delete"
        ? denied("git-history-rewrite", "removes what a lost commit could be found by")
        : undefined;
    case "gc":
    case "prune":
      return verb === "prune" || [...(options.values.get("--prune") ?? [])].some(({ text }) => text !== "")
        ? denied("git-history-rewrite", "removes lost commits for good")
        : undefined;
    case "update-ref":
      return hasOption(options, "d", "--stdin", "--delete")
        ? denied("git-history-rewrite", "deletes references")
        : undefined;
    case "replace":
      return cautioned("git-history-rewrite", "replaces objects of the history");
    case "clean":
      return hasOption(options, "f", "--force") && !hasOption(options, "n", "--dry-run")
        ? cautioned("git-discard", "git clean deletes files that git does not have")
        : undefined;
    case "stash":
      return first === "clear" || first === "drop"
        ? cautioned("git-discard", "throws stashed work away")
        : undefined;
    case "checkout":
    case "restore":
      if (
        hasOption(options, "f", "--force") ||
        (options.operands.some(({ text }) => text === "." || text === ":/" || text === "*") &&
          !hasOption(options, "--staged", "S"))
      ) {
        return cautioned("git-discard", "throws uncommitted work away");
      }
      return undefined;
    case "switch":
      return hasOption(options, "f", "--force", "--discard-changes")
        ? cautioned("git-discard", "throws uncommitted work away")
        : undefined;
    case "config":
      return judgeConfig(options, [first, second, ...rest.map(({ text }) => text)].join(" "));
    case "clone":
    case "fetch":
    case "pull":
    case "ls-remote":
    case "submodule":
    case "archive":
    case "remote":
      return judgeTransport(rest);
    default:
      return undefined;
  }
}

function judgePush(options: Options): Finding | undefined {
  if (options.flags.has("f") || options.flags.has("--force") || hasOption(options, "--mirror")) {
    return denied("git-force-push", "overwrites what others have pushed");
  }
  if (options.operands.slice(1).some(({ text }) => text.startsWith("+")))
    return denied("git-force-push", "a refspec with + overwrites what others have pushed");
  if (
    hasOption(options, "d", "--delete", "--prune") ||
    options.operands.slice(1).some(({ text }) => text.startsWith(":"))
  ) {
    return cautioned("git-discard", "deletes a branch or a tag on the server");
  }
  return options.uncertain
    ? cautioned("unresolved-target", "git push with options that are not known")
    : undefined;
}

/** Settings that make git run something later. */
function judgeConfig(options: Options, line: string): Finding | undefined {
  const runs =
    /(?:core\.(?:sshcommand|pager|editor|fsmonitor|hookspath|askpass|gitproxy)|alias\.|credential\.|diff\.external|filter\.|\.(?:cmd|textconv|driver)|init\.templatedir|includeif?\.|url\.)/i;
  const reads =
    hasOption(options, "--get", "--list", "l", "--get-all", "--get-regexp", "--unset") ||
    options.operands.length < 2;
  return runs.test(line) && !reads
    ? cautioned("git-settings", "a git setting that makes git run or fetch something later")
    : undefined;
}

function judgeTransport(rest: readonly Value[]): Finding | undefined {
  const runs = rest.some(
    ({ text }) =>
      /^(?:ext|fd)::/.test(text) ||
      /^--(?:upload-pack|receive-pack|exec)/.test(text) ||
      /^-u./.test(text) ||
      /^--config=?.*(?:sshcommand|hookspath|fsmonitor)/i.test(text),
  );
  return runs ? denied("git-transport", "a git transport that runs a command") : undefined;
}

export const GIT: CheckTable = {
  git,
  bfg: () => denied("git-history-rewrite", "rewrites the history"),
  "git-filter-repo": () => denied("git-history-rewrite", "rewrites the history"),
};
