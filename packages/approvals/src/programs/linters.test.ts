import { describeProgram } from "../../test/describe-program.ts";
import { linters } from "./linters.ts";

describeProgram(linters, {
  understood: {
    "": ["action project-code"],
    "--version": ["action project-code"],
    help: ["action project-code"],
    "-v": ["action project-code"],
    version: ["action project-code"],
    "--flag value src/a.ts": ["action project-code"],
    "--output=../../etc/x": ["action project-code", "write ../../etc/x"],
    "-o /etc/x": ["action project-code", "write /etc/x"],
  },
  notUnderstood: [],
});
