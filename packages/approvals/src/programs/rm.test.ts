import { describeProgram } from "../../test/describe-program.ts";
import { rm } from "./rm.ts";

describeProgram(rm, {
  understood: {
    "a b": ["delete a", "delete b"],
    "-rf dist": ["delete-tree dist"],
    "dist -R": ["delete-tree dist"],
    "-f src/*.js": ["delete src/*.js"],
    "-- -x": ["delete -x"],
  },
  notUnderstood: [
    "-rf",
    "--no-preserve-root -rf x",
    "--recurs x",
    "-rf *",
    "-f *.log",
    "-f -*.log",
    "<unknown>",
    "-x a",
  ],
});
