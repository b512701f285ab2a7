import { describeProgram } from "../../test/describe-program.ts";
import { env } from "./env.ts";

describeProgram(env, {
  understood: {
    "": [],
    "CI=true npm test": ["command npm test"],
    "-C sub ls -l": ["enter sub", "command ls -l"],
    "NO_COLOR=1 CI=1": [],
    "'RUSTFLAGS=-D warnings -Aunused-imports' cargo build": ["command cargo build"],
    "LC_ALL=C LANG=en_US.UTF-8 sort x": ["command sort x"],
    "PYTHONPATH=src python3 x.py": ["execute src", "command python3 x.py"],
  },
  notUnderstood: [
    "PATH=. ls",
    "HOME=/tmp git status",
    "LD_PRELOAD=x ls",
    "-i ls",
    "-u HTTP_PROXY curl",
    "-S 'ls -l'",
    "--split='rm x'",
    "--split-string=ls",
    "--chd=x ls",
    "CI=* ls",
    "<unknown> ls",
    "BASH_ENV=x bash",
    // A hundred letters, which took hours with a backtracking expression.
    `'RUSTFLAGS=${"-Aa".repeat(40)}!' cargo build`,
    "LC_ALL=zh_TW.BIG5 sed p x",
    "LANG=zh_TW sed p x",
    "LC_CTYPE=/srv/locale sed p x",
  ],
});
