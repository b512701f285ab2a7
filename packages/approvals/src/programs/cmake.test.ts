import { describeProgram } from "../../test/describe-program.ts";
import { cmake } from "./cmake.ts";

describeProgram(cmake, {
  understood: {
    "-S . -B build": ["action project-code"],
    "--build build -j": ["action project-code"],
    "--install build --prefix /usr": ["action project-code", "write /usr", "execute /usr"],
    "..": ["action project-code", "write ..", "execute .."],
  },
  notUnderstood: [],
});
