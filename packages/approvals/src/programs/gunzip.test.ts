import { describeProgram } from "../../test/describe-program.ts";
import { gunzip } from "./gunzip.ts";

describeProgram(gunzip, {
  understood: {
    "a.tar.gz": ["read a.tar.gz", "write a.tar", "delete a.tar.gz"],
    "-k a.tgz": ["read a.tgz", "write a", "write a.tar"],
    "-c a.gz": ["read a.gz"],
  },
  notUnderstood: ["AGENTS.md-gz", ".envrc_z", ".envrc-z", "-r dir", "-N a.gz", "*", "<unknown>"],
});
