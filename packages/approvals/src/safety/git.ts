import { isInside } from "../files/path.ts";
import { cautioned, denied, type Finding } from "../finding.ts";
import { hasOption, readOptions, type Options } from "../shell/options.ts";
import { gitSetting } from "../shell/git-settings.ts";
import { gitSubcommand } from "../shell/git-subcommand.ts";
import { isUnknown, type Value } from "../shell/value.ts";
import type { Check, CheckTable } from "./check.ts";

const git: Check = ({ argv, cwds }, places) => {
  const { verb, rest } = gitSubcommand(argv.slice(1));
  if (verb === undefined) return undefined;
  if (isUnknown(verb)) return cautioned("dynamic-name", "the git command is known only when it runs");
  const options = readOptions(rest, {
    short: "m",
    long: ["--message", "--author", "--date", "--format", "--pretty", "--repo", "-o"],
  });
  // A path that means everything below where git runs, however it is spelt: `./`, `src/..`, `:/`.
  const everything = options.operands.some(
    ({ text, glob }) =>
      /^:(?:\/|\(.*\))?$/.test(text) ||
      text === "*" ||
      (glob && /^[.*?/]+$/.test(text)) ||
      (/^[./]|\/\.\./.test(text) && cwds.some((cwd) => isInside(places.absolute(text, cwd), cwd))),
  );
  return destroys(verb.text, options, rest, everything);
};

function destroys(
  verb: string,
  options: Options,
  rest: readonly Value[],
  everything: boolean,
): Finding | undefined {
  const first = options.operands[0]?.text;
  switch (verb) {
    case "worktree":
      return first === "remove" || first === "prune"
        ? denied("git-worktree", `git worktree ${first} deletes a working tree`)
        : undefined;
    case "reset":
      if (hasOption(options, "--hard"))
        return denied("git-reset-hard", "git reset --hard throws uncommitted work away");
      if (hasOption(options, "--merge"))
        return cautioned("git-discard", "git reset --merge throws staged work away");
      return options.uncertain
        ? cautioned("unresolved-target", "git reset with options that are not known")
        : undefined;
    case "read-tree":
      return hasOption(options, "--reset") && hasOption(options, "u")
        ? denied("git-reset-hard", "throws uncommitted work away as git reset --hard does")
        : undefined;
    case "checkout-index":
      return hasOption(options, "f", "--force")
        ? cautioned("git-discard", "overwrites uncommitted work")
        : undefined;
    case "rm":
      return hasOption(options, "f", "--force") && !hasOption(options, "--cached") && everything
        ? cautioned("git-discard", "deletes every file, changed ones as well")
        : undefined;
    case "apply":
      return hasOption(options, "--unsafe-paths")
        ? cautioned("unresolved-target", "applies a patch to files outside the repository")
        : undefined;
    case "maintenance":
      return first === "start"
        ? denied("persistence", "git maintenance start runs git by itself later")
        : undefined;
    case "push":
    case "send-pack":
    case "http-push":
      return judgeTransport(rest) ?? judgePush(options);
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
        (everything && (!hasOption(options, "--staged", "S") || hasOption(options, "--worktree", "W")))
      ) {
        return cautioned("git-discard", "throws uncommitted work away");
      }
      return undefined;
    case "switch":
      return hasOption(options, "f", "--force", "--discard-changes")
        ? cautioned("git-discard", "throws uncommitted work away")
        : undefined;
    case "config":
      return judgeConfig(options);
    case "init":
    case "clone":
    case "fetch":
    case "fetch-pack":
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
  if (options.operands.some(({ text }) => text.startsWith("+")))
    return denied("git-force-push", "a refspec with + overwrites what others have pushed");
  if (
    hasOption(options, "d", "--delete", "--prune") ||
    options.operands.some(({ text }) => text.startsWith(":"))
  ) {
    return cautioned("git-discard", "deletes a branch or a tag on the server");
  }
  return options.uncertain
    ? cautioned("unresolved-target", "git push with options that are not known")
    : undefined;
}

/** Settings that make git run something later. */
function judgeConfig(options: Options): Finding | undefined {
  if (hasOption(options, "e", "--edit")) return undefined;
  const words = options.operands.map(({ text }) => text);
  const reads =
    hasOption(options, "--get", "--list", "l", "--get-all", "--get-regexp", "--unset", "--unset-all") ||
    /^(?:get|list|unset)$/.test(words[0] ?? "");
  // The name may follow `set` or the value of an option: any two neighbours may be a name and its value.
  const runs = words.some(
    (key, index) => index + 1 < words.length && gitSetting(key, words[index + 1] ?? "") !== undefined,
  );
  return reads || !runs
    ? undefined
    : cautioned("git-settings", "a git setting that makes git run or fetch something later");
}

function judgeTransport(rest: readonly Value[]): Finding | undefined {
  const runs = rest.some(
    ({ text }, index) =>
      /^(?:ext|fd)::/.test(text) ||
      /^--(?:upload-pack|receive-pack|exec)/.test(text) ||
      // `-u` means something else to `git push`, where no program follows it.
      (/^-u./.test(text) && /[\s/]/.test(text)) ||
      (text === "-u" && /\s/.test(rest[index + 1]?.text ?? "")),
  );
  if (runs) return denied("git-transport", "a git transport that runs a command");
  return rest.some(({ text }) => text.startsWith("--template"))
    ? cautioned("git-settings", "a template may hold hooks that git runs")
    : undefined;
}

export const GIT: CheckTable = {
  git,
  bfg: () => denied("git-history-rewrite", "rewrites the history"),
  "git-filter-repo": () => denied("git-history-rewrite", "rewrites the history"),
};
