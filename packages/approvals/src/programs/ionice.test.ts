import { describeProgram } from "../../test/describe-program.ts";
import { ionice } from "./ionice.ts";

describeProgram(ionice, {
  understood: { "-c 3 make -j4": ["command make -j4"] },
  notUnderstood: ["-p 5", "--cla 3 x", "<unknown> ls"],
});
