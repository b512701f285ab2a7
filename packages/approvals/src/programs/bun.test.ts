import { describeProgram } from "../../test/describe-program.ts";
import { bun } from "./bun.ts";

describeProgram(bun, {
  understood: {
    test: ["action project-code"],
    "run build": ["action project-code"],
    "src/index.ts": ["action project-code"],
    "../x.ts": ["action project-code", "write ../x.ts", "execute ../x.ts"],
    "add hono": ["action install"],
    upgrade: ["action system"],
    publish: ["action remote-write"],
  },
  notUnderstood: ["--config x run"],
});
