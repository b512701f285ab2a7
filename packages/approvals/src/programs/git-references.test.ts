import { describeProgram } from "../../test/describe-program.ts";
import { git } from "./git.ts";

const LOCAL = ["action git-local"];
const WORK_TREE = ["action git-local", "action unpack"];

describeProgram(git, {
  understood: {
    init: LOCAL,
    "init -b main sub": [...LOCAL, "write sub"],
    tag: [],
    "tag --sort=-creatordate": [],
    "tag -l 'v*'": [],
    "tag -a v1.2.0 -m v1.2.0": LOCAL,
    "tag -d v1": LOCAL,
    "branch -a": [],
    "branch --show-current": [],
    "branch --merged main": [],
    "-C sub branch -vv": ["enter sub"],
    "branch new": LOCAL,
    "branch -d merged": LOCAL,
    "branch -u origin/x": LOCAL,
    "worktree add ../wt feature": [...WORK_TREE, "write ../wt"],
    "worktree list": [],
    "gc --auto": LOCAL,
  },
  notUnderstood: [
    "init --template=x",
    "init --bare",
    "init --separate-git-dir=x",
    "branch --edit-description",
    "worktree remove x",
    "worktree prune",
    "gc --prune=now",
  ],
});
