import { describeProgram } from "../../test/describe-program.ts";
import { ip } from "./ip.ts";

describeProgram(ip, {
  understood: { a: [], "-br addr show": [], route: [], "link show dev eth0": [] },
  notUnderstood: ["link set eth0 down", "route del default", "netns exec x ls", "-b file"],
});
