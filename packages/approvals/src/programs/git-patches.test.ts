import { describeProgram } from "../../test/describe-program.ts";
import { git } from "./git.ts";

const WORK_TREE = ["action git-local", "action unpack"];

describeProgram(git, {
  understood: {
    "apply fix.diff": [...WORK_TREE, "read fix.diff"],
    "apply --check fix.diff": ["read fix.diff"],
    "apply --check --3way fix.diff": ["action git-local", "read fix.diff"],
    "format-patch -1 -o /tmp/patches": ["write /tmp/patches", "action unpack"],
    "format-patch -1": ["action unpack", "write ."],
    "format-patch --stdout HEAD~2": [],
    "archive -o out.zip HEAD": ["write out.zip"],
    "bundle create x.bundle HEAD": ["write x.bundle"],
  },
  notUnderstood: [
    "apply --unsafe-paths x",
    "apply --directory=/etc x",
    "apply --stat --apply x",
    "apply --stat --reject x",
    "archive --remote=x HEAD",
    "archive --exec=x HEAD",
    "archive --format=x HEAD",
  ],
});
