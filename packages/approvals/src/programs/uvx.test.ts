import { describeProgram } from "../../test/describe-program.ts";
import { uvx } from "./uvx.ts";

describeProgram(uvx, {
  understood: {
    "ruff check": ["action install", "action project-code"],
    "--from git+https://host.example/x y": [
      "action install",
      "action project-code",
      "connect git+https://host.example/x",
    ],
  },
  notUnderstood: [],
});
