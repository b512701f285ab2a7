import { describeProgram } from "../../test/describe-program.ts";
import { date } from "./date.ts";

describeProgram(date, {
  understood: { "": [], "+%s": [], "-u +%F": [], "-d yesterday +%F": [], "-Iseconds": [] },
  notUnderstood: ["-s now", "--set=now", "1231235959", "<unknown>", "--dat=x", "-- x"],
});
