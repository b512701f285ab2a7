import { describeProgram } from "../../test/describe-program.ts";
import { wc } from "./wc.ts";

describeProgram(wc, {
  understood: { "-l": [], "-lc src/*.ts": ["read src/*.ts"], "-l <unknown>": ["read <unknown>"] },
  notUnderstood: ["--files0-from=list", "--line a", "-x a"],
});
