import { describeProgram } from "../../test/describe-program.ts";
import { lsof } from "./lsof.ts";

describeProgram(lsof, {
  understood: { "-i :3000": [], "-ti:3000": [], "-nP -iTCP:8080 -sTCP:LISTEN": [], "-p 123": [] },
  notUnderstood: ["-i @evil.test", "-i@evil.test:80", "-D b", "<unknown>", "-r", "*"],
});
