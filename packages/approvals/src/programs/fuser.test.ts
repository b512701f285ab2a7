import { describeProgram } from "../../test/describe-program.ts";
import { fuser } from "./fuser.ts";

describeProgram(fuser, {
  understood: { "3000/tcp": [], "-k 3000/tcp": ["action process"] },
  notUnderstood: ["-k /", "-km /home", "--kil 1/tcp", ""],
});
