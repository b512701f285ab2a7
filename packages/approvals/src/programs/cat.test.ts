import { describeProgram } from "../../test/describe-program.ts";
import { cat } from "./cat.ts";

describeProgram(cat, {
  understood: {
    "-n src/a.ts -": ["read src/a.ts"],
    "*.md": ["read *.md"],
    "<unknown>": ["read <unknown>"],
    "-- -n": ["read -n"],
  },
  notUnderstood: ["--num a.txt", "-x a.txt", "--number=1 a.txt"],
});
