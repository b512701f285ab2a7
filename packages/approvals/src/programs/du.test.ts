import { describeProgram } from "../../test/describe-program.ts";
import { du } from "./du.ts";

describeProgram(du, {
  understood: { "-sh .": ["read ."], "-sh *": ["read *"], "-h -d1 --exclude=node_modules": [] },
  notUnderstood: ["--files0-from=list", "--max=1", "-Z"],
});
