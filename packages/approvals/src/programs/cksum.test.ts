import { describeProgram } from "../../test/describe-program.ts";
import { cksum } from "./cksum.ts";

describeProgram(cksum, { understood: { "-a sha256 a": ["read a"] }, notUnderstood: ["--alg=md5 a", "-x"] });
