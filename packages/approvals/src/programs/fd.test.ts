import { describeProgram } from "../../test/describe-program.ts";
import { fd } from "./fd.ts";

describeProgram(fd, {
  understood: { "-e ts -E node_modules": [], "-t f foo src": ["read src"] },
  notUnderstood: ["-x rm", "-X rm", "--exec rm", "--exec-batch rm", "--ext ts", "foo *"],
});
