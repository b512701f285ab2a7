import { describeProgram } from "../../test/describe-program.ts";
import { which } from "./which.ts";

describeProgram(which, {
  understood: { "node npm": [], "-a python3": [] },
  notUnderstood: ["--all x", "-x y"],
});
