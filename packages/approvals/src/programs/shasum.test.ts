import { describeProgram } from "../../test/describe-program.ts";
import { shasum } from "./shasum.ts";

describeProgram(shasum, {
  understood: { "-a 256 file": ["read file"], "-": [] },
  notUnderstood: ["-a 999 x", "--algo 256 x", "-x"],
});
