import { describeProgram } from "../../test/describe-program.ts";
import { ls } from "./ls.ts";

describeProgram(ls, {
  understood: {
    "": [],
    "-la src": ["read src"],
    "-1 *.log": ["read *.log"],
    "--color=never -R packages": ["read packages"],
    "--ignore=*.o .": ["read ."],
  },
  notUnderstood: ["--col=never", "-E", "--all=1"],
});
