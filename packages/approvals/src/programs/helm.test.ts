import { describeProgram } from "../../test/describe-program.ts";
import { helm } from "./helm.ts";

describeProgram(helm, {
  understood: {
    "list -A": ["action remote-read"],
    "template x": ["action project-code"],
    "upgrade x .": ["action remote-write"],
  },
  notUnderstood: ["", "--kubeconfig x list", "no-such-verb"],
});
