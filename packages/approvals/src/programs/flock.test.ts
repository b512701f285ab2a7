import { describeProgram } from "../../test/describe-program.ts";
import { flock } from "./flock.ts";

describeProgram(flock, {
  understood: { "-n /tmp/lock npm test": ["write /tmp/lock", "command npm test"] },
  notUnderstood: ["/tmp/lock", "--time=5 x ls", "<unknown> ls"],
});
