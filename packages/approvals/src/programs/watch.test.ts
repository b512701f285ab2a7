import { describeProgram } from "../../test/describe-program.ts";
import { watch } from "./watch.ts";

describeProgram(watch, {
  understood: {
    "-n1 'ls | wc -l'": ["shell ls | wc -l"],
    "-x ls -l": ["command ls -l"],
    "rm x": ["shell rm x"],
  },
  notUnderstood: ["", "ls <unknown>", "ls *", "--exe ls", "--inter=1 ls"],
});
