import { describeProgram } from "../../test/describe-program.ts";
import { command } from "./command.ts";

describeProgram(command, {
  understood: { "-v node npm": [], "ls -l": ["command ls -l"], "-V git": [] },
  notUnderstood: ["", "-p ls", "<unknown>", "-x ls"],
});
