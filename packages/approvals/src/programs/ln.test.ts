import { describeProgram } from "../../test/describe-program.ts";
import { ln } from "./ln.ts";

describeProgram(ln, {
  understood: {
    "-s ../shared/config.json packages/config.json": [
      "link packages/config.json to packages/../shared/config.json",
      "link packages/config.json/config.json to packages/config.json/../shared/config.json",
    ],
    "-sT a b": ["link b to a"],
    "-sfn /abs out/x": ["link out/x to /abs", "link out/x/abs to /abs"],
    "a b": ["link b to a", "link b/a to a"],
    "-s ../x": ["link ./x to ./../x"],
    "-t out -s a b": ["link out/a to out/a", "link out/b to out/b"],
    "-srT a/b c/d": ["link c/d to a/b"],
  },
  notUnderstood: ["", "-s <unknown> b", "-s a* b", "-b a b", "--symb a b", "-L a b", "-s .."],
});
