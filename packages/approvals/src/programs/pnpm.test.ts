import { describeProgram } from "../../test/describe-program.ts";
import { pnpm } from "./pnpm.ts";

describeProgram(pnpm, {
  understood: {
    "": ["action project-code"],
    "-r build": ["action project-code"],
    "--filter web dev": ["action project-code"],
    "add -D eslint": ["action install"],
    "-C ../x test": ["action project-code", "write ../x", "execute ../x"],
    "dlx create-x": ["action install", "action project-code"],
    publish: ["action remote-write"],
    setup: ["action system"],
    "add -g x": ["action install", "action system"],
  },
  notUnderstood: ["--unknown x publish"],
});
