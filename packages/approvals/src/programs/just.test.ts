import { describeProgram } from "../../test/describe-program.ts";
import { just } from "./just.ts";

describeProgram(just, {
  understood: {
    "": ["action project-code"],
    "--list": ["action project-code"],
    "test a.ts": ["action project-code"],
    "test -- -c x": ["action project-code"],
  },
  notUnderstood: ["-c 'rm -rf x'", "--command rm x", "--shell rm test", "--shell=rm test"],
});
