import { describeProgram } from "../../test/describe-program.ts";
import { nix } from "./nix.ts";

describeProgram(nix, {
  understood: {
    "develop -c cargo test": ["action project-code"],
    "run .#fmt": ["action project-code"],
    "run github:owner/repo": ["action project-code", "connect github:owner/repo"],
    "profile install x": ["action system"],
  },
  notUnderstood: ["", "no-such-verb"],
});
