import { describeProgram } from "../../test/describe-program.ts";
import { file } from "./file.ts";

describeProgram(file, {
  understood: { "-b --mime-type a.png": ["read a.png"], "dist/*": ["read dist/*"] },
  notUnderstood: ["-C -m x", "-z a.gz", "*", "--mime-t a"],
});
