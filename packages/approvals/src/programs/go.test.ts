import { describeProgram } from "../../test/describe-program.ts";
import { go } from "./go.ts";

describeProgram(go, {
  understood: {
    "test ./... -run TestFoo -v": ["action project-code"],
    "mod tidy": ["action install"],
    "get example.com/mod@latest": ["action install"],
    "env -w GOPROXY=x": ["action system"],
    "-C ../x build": ["action project-code", "write ../x", "execute ../x"],
  },
  notUnderstood: ["", "bug"],
});
