import { describe, expect, it } from "vitest";
import { describeProgram } from "../../test/describe-program.ts";
import { isNotUnderstood, parseCall } from "./declaration/parse-call.ts";
import { literal } from "./declaration/word.ts";
import { git } from "./git.ts";

describe("global options of git", () => {
  describeProgram(git, {
    understood: {
      "--version": [],
      "--no-pager log -5 --stat": [],
      "-C packages/core status -s": ["enter packages/core"],
      "-c core.pager=cat log -5": [],
      "-c user.name=x -c user.email=y commit -m 'fix: x'": ["action git-local"],
      "-c color.ui=always diff": [],
      "-c Core.QuotePath=off diff --name-only": [],
      "-c advice.detachedHead=false checkout v1": ["action git-local", "action unpack"],
      "-c core.hooksPath=/dev/null commit -m x": ["action git-local"],
      "-c sequence.editor=: rebase -i --autosquash main": [
        "action git-local",
        "action unpack",
        "action project-code",
      ],
    },
    notUnderstood: [
      "",
      "-C src",
      "-c alias.x=!id x",
      "-c core.pager=less log",
      "-c core.sshCommand=id fetch",
      "-c core.hooksPath=hooks commit -m x",
      "-c core.fsmonitor=./x status",
      "-c core.editor=vi commit",
      "-c diff.external=x diff",
      "-c include.path=x status",
      "-c user.name diff",
      "-c <unknown> diff",
      "--config-env=core.pager=X log",
      "--exec-path=/tmp/evil status",
      "--git-dir=x status",
      "--git-dir x status",
      "--work-tree=x status",
      "--bare status",
      "-p log",
      "--pagin log",
      "--no-pag log",
      "-C <unknown> status",
      "-C a* status",
      "<unknown>",
      "sta",
      "send-email x",
      "filter-branch x",
      "difftool",
      "mergetool",
      "maintenance start",
      "daemon",
      "help log",
    ],
  });

  it("are left out of the words that rules see", () => {
    const call = parseCall(git, "-C . -c color.ui=never push origin main".split(" ").map(literal));
    expect(isNotUnderstood(call) ? call.problem : call.normalized.map(({ text }) => text)).toEqual([
      "git",
      "push",
      "origin",
      "main",
    ]);
  });
});
