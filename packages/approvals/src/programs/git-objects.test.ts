import { describeProgram } from "../../test/describe-program.ts";
import { git } from "./git.ts";

describeProgram(git, {
  understood: {
    "status --short --branch": [],
    "status --porcelain=v2 -uno": [],
    "rev-parse --abbrev-ref HEAD": [],
    "ls-files -o --exclude-standard": [],
    "describe --tags --always": [],
    "merge-base main HEAD": [],
    "grep -n deprecated -- '*.go'": [],
    "grep -f patterns": ["read patterns"],
    "cat-file -p HEAD": [],
    "symbolic-ref --short HEAD": [],
    "hash-object a.txt": ["read a.txt"],
  },
  notUnderstood: [
    "for-each-ref '--format=%(refname) %(signature:grade)'",
    "grep -Oless x",
    "grep --open-files-in-pager=sh x",
    "grep --no-index x",
    "grep",
    "cat-file --textconv HEAD:a",
    "cat-file --filters HEAD:a",
    "symbolic-ref HEAD refs/heads/x",
    "symbolic-ref -d HEAD",
    "hash-object -w a",
    "fsck --lost-found",
  ],
});
