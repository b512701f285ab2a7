import { describeProgram } from "../../test/describe-program.ts";
import { bracket, testProgram } from "./test-expression.ts";

describeProgram(testProgram, {
  understood: {
    "": [],
    "-f package.json": [],
    "a = b -a ! -d src": [],
    "<unknown> = x": [],
    "! -z <unknown>": [],
    "<unknown> -gt 5": [],
    "<unknown>": [],
  },
  notUnderstood: [
    "-v 'a[$(id)]'",
    "a = b -a -R x",
    "<unknown> x",
    "<unknown> <unknown> x",
    "-f *",
    "-v <unknown>",
  ],
});

describeProgram(bracket, {
  understood: { "-f x ]": [], "<unknown> = x ]": [], "! -e a ]": [] },
  notUnderstood: ["-f x", "-v x ]", "]x", "<unknown> x ]"],
});
