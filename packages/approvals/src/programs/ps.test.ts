import { describeProgram } from "../../test/describe-program.ts";
import { ps } from "./ps.ts";

describeProgram(ps, {
  understood: {
    aux: [],
    "-ef --forest": [],
    "-p 123 -o pid,cmd": [],
    "axo pid,ppid,cmd": [],
    "aux --sort=-%mem": [],
  },
  notUnderstood: ["auxe", "eww", "axo pid e", "--for", "<unknown>", "-Z"],
});
