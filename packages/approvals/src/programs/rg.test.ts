import { describeProgram } from "../../test/describe-program.ts";
import { rg } from "./rg.ts";

describeProgram(rg, {
  understood: {
    "-n TODO src": ["read src"],
    "--files": [],
    "--files -g '*.ts' src": ["read src"],
    "-l x -t ts": [],
    "-uu -. foo .": ["read ."],
  },
  notUnderstood: [
    "",
    "--pre=sh x",
    "--pre sh x",
    "--hostname-bin=x y",
    "-z x",
    "--search-zip x",
    "--fil x",
    "foo *.ts",
    "foo <unknown>",
    "--type-list x",
  ],
});
