import { describeProgram } from "../../test/describe-program.ts";
import { ag } from "./ag.ts";

describeProgram(ag, {
  understood: { "-i foo src": ["read src"], "-l x": [] },
  notUnderstood: ["--pager=sh x", "--page=sh x", "", "-z x", "foo *"],
});
