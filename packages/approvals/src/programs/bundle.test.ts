import { describeProgram } from "../../test/describe-program.ts";
import { bundle } from "./bundle.ts";

describeProgram(bundle, {
  understood: {
    "exec rspec spec/models": ["action project-code"],
    install: ["action install"],
    test: ["action project-code"],
    "deps.get": ["action install"],
    "push x.gem": ["action remote-write"],
  },
  notUnderstood: ["", "no-such-verb"],
});
