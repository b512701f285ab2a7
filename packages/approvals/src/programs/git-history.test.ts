import { describeProgram } from "../../test/describe-program.ts";
import { git } from "./git.ts";

const WORK_TREE = ["action git-local", "action unpack"];

describeProgram(git, {
  understood: {
    "merge --no-ff -s ort feature/x": WORK_TREE,
    "rebase --continue": WORK_TREE,
    "cherry-pick -x abc1234": WORK_TREE,
    "revert HEAD --no-edit": WORK_TREE,
    am: WORK_TREE,
    "bisect run npm test -- -x": [...WORK_TREE, "command npm test -- -x"],
    "bisect good v1": WORK_TREE,
  },
  notUnderstood: [
    "merge -s evil x",
    "rebase -x id main",
    "rebase --exec id main",
    "rebase --exe=id main",
    "bisect run",
  ],
});
