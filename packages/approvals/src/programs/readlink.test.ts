import { describeProgram } from "../../test/describe-program.ts";
import { readlink } from "./readlink.ts";

describeProgram(readlink, {
  understood: { "-f a": ["read a"], "-f <unknown>": ["read <unknown>"] },
  notUnderstood: ["--canon a", "-x a"],
});
