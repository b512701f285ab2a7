import { describeProgram } from "../../test/describe-program.ts";
import { tr } from "./tr.ts";

describeProgram(tr, {
  understood: { "-d '\\n'": [], "a-z A-Z": [], "-cs '[:alnum:]' '\\n'": [] },
  notUnderstood: ["", "a b c", "--del x", "-x a"],
});
