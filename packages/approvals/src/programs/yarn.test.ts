import { describeProgram } from "../../test/describe-program.ts";
import { yarn } from "./yarn.ts";

describeProgram(yarn, {
  understood: {
    "": ["action project-code"],
    build: ["action project-code"],
    "workspace web lint": ["action project-code"],
    "add react": ["action install"],
    "--frozen-lockfile": ["action project-code"],
    "npm publish": ["action remote-write"],
    "global add x": ["action system"],
    "set version 4": ["action system"],
  },
  notUnderstood: ["--use-yarnrc x build"],
});
