import { describeProgram } from "../../test/describe-program.ts";
import { make } from "./make.ts";

describeProgram(make, {
  understood: {
    "-v": [],
    help: ["action project-code"],
    version: ["action project-code"],
    "": ["action project-code"],
    "-j8 test": ["action project-code"],
    "CC=clang test": ["action project-code"],
    "-C ../x": ["action project-code", "write ../x", "execute ../x"],
    "-C/etc": ["action project-code", "write /etc", "execute /etc"],
    "PREFIX=/usr/local install": ["action project-code", "write /usr/local", "execute /usr/local"],
  },
  notUnderstood: [],
});
