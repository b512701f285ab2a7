import { describeProgram } from "../../test/describe-program.ts";
import { base32, base64 } from "./base64.ts";

for (const program of [base32, base64]) {
  describeProgram(program, {
    understood: { "-d": [], "-w0 a.png": ["read a.png"] },
    notUnderstood: ["a b", "--dec a", "-o out a"],
  });
}
