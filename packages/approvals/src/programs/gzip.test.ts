import { describeProgram } from "../../test/describe-program.ts";
import { gunzip, gzip } from "./gzip.ts";

describeProgram(gzip, {
  understood: {
    "a.txt": ["read a.txt", "write a.txt.gz", "delete a.txt"],
    "-k9 a": ["read a", "write a.gz"],
    "-dc a.gz": ["read a.gz"],
    "-d a.gz": ["read a.gz", "write a", "delete a.gz"],
    "": [],
    "-c -": [],
  },
  notUnderstood: [
    "-t -d a",
    "-r dir",
    "-N -d a.gz",
    "-S .x a",
    "--suffix=.x a",
    "--decomp a.gz",
    "*",
    "<unknown>",
  ],
});

describeProgram(gunzip, {
  understood: {
    "a.tar.gz": ["read a.tar.gz", "write a.tar", "delete a.tar.gz"],
    "-k a.tgz": ["read a.tgz", "write a", "write a.tar"],
    "-c a.gz": ["read a.gz"],
  },
  notUnderstood: ["AGENTS.md-gz", ".envrc_z", ".envrc-z", "-r dir", "-N a.gz", "*", "<unknown>"],
});
