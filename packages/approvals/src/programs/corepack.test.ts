import { describeProgram } from "../../test/describe-program.ts";
import { corepack } from "./corepack.ts";

describeProgram(corepack, {
  understood: {
    "use 24": ["action project-code"],
    enable: ["action install"],
    "self uninstall": ["action system"],
  },
  notUnderstood: ["", "no-such-verb"],
});
