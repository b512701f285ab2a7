import { describeProgram } from "../../test/describe-program.ts";
import { journalctl } from "./journalctl.ts";

describeProgram(journalctl, {
  understood: { "-u app -n 50": [], "--since today --no-pager": [] },
  notUnderstood: ["--vacuum-time=1s", "--rotate", "--flush", "-D /x", "_PID=1"],
});
