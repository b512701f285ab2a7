import { describeProgram } from "../../test/describe-program.ts";
import { cargo } from "./cargo.ts";

describeProgram(cargo, {
  understood: {
    "+nightly miri test": ["action project-code"],
    "test -p core -- --nocapture": ["action project-code"],
    "add serde --features derive": ["action install"],
    "build --manifest-path ../x/Cargo.toml": [
      "action project-code",
      "write ../x/Cargo.toml",
      "execute ../x/Cargo.toml",
    ],
    publish: ["action remote-write"],
    "--version": ["action project-code"],
  },
  notUnderstood: ["", "--config x build", "no-such-verb"],
});
