import { describeProgram } from "../../test/describe-program.ts";
import { npx } from "./npx.ts";

describeProgram(npx, {
  understood: {
    "tsc --noEmit": ["action install", "action project-code"],
    "jest -c jest.config.js": ["action install", "action project-code"],
    "-y create-x": ["action install", "action project-code"],
    "https://host.example/x": ["action install", "action project-code", "connect https://host.example/x"],
    "github:owner/repo": ["action install", "action project-code", "connect github:owner/repo"],
  },
  notUnderstood: [
    "-c 'rm x'",
    "-yc 'rm x'",
    "--cal 'rm x'",
    "--scri=sh x",
    "-y --call='rm x' y",
    "--shell sh x",
  ],
});
