import { describeProgram } from "../../test/describe-program.ts";
import { ss } from "./ss.ts";

describeProgram(ss, {
  understood: { "-tlnp": [], "-s": [] },
  notUnderstood: ["-K", "-D out", "--tc", "sport = :80"],
});
