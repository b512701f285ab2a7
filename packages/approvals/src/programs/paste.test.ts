import { describeProgram } from "../../test/describe-program.ts";
import { paste } from "./paste.ts";

describeProgram(paste, {
  understood: { "-sd, -": [], "a b": ["read a", "read b"] },
  notUnderstood: ["--delim=, a", "-x"],
});
