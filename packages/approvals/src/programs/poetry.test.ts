import { describeProgram } from "../../test/describe-program.ts";
import { poetry } from "./poetry.ts";

describeProgram(poetry, {
  understood: {
    "run pytest -q": ["action project-code"],
    "add requests": ["action install"],
    publish: ["action remote-write"],
    "config x y": ["action system"],
  },
  notUnderstood: ["", "no-such-verb"],
});
