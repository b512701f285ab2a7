import { describeProgram } from "../../test/describe-program.ts";
import { compilers } from "./compilers.ts";

describeProgram(compilers, {
  understood: {
    "": ["action project-code"],
    "--version": [],
    version: ["action project-code"],
    "--flag value src/a.ts": ["action project-code"],
    "--output=../../etc/x": ["action project-code", "write ../../etc/x"],
    "-o /etc/x": ["action project-code", "write /etc/x"],
  },
  notUnderstood: [],
});
