import { describeProgram } from "../../test/describe-program.ts";
import { pgrep } from "./pgrep.ts";

describeProgram(pgrep, {
  understood: { "-fl vite": [], "-u root": [] },
  notUnderstood: ["--ful x", "-F pidfile", "a b", "<unknown>"],
});
