import { describeProgram } from "../../test/describe-program.ts";
import { df } from "./df.ts";

describeProgram(df, {
  understood: { "-h": [], "-h .": ["read ."], "--output=pcent /": ["read /"] },
  notUnderstood: ["--sync", "--outp=x", "-Z"],
});
