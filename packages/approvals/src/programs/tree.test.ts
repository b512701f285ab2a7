import { describeProgram } from "../../test/describe-program.ts";
import { tree } from "./tree.ts";

describeProgram(tree, {
  understood: { "-L 2 -I node_modules .": ["read ."], "-a -I 'node_modules|.git'": [] },
  notUnderstood: ["-o out .", "-R -L 1 .", "--dirs .", "*"],
});
