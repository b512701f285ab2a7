import { describeProgram } from "../../test/describe-program.ts";
import { kill } from "./kill.ts";

describeProgram(kill, {
  understood: {
    "12345": ["action process"],
    "-9 4242 17": ["action process"],
    "-s TERM 5": ["action process"],
    "%1": ["action process"],
    "-TERM 5": ["action process"],
  },
  notUnderstood: ["", "-9", "-9 -1", "<unknown>", "-9 <unknown>", "-- -5", "-s '$(x)' 5", "*", "node"],
});
