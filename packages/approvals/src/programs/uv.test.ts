import { describeProgram } from "../../test/describe-program.ts";
import { uv } from "./uv.ts";

describeProgram(uv, {
  understood: {
    "run pytest": ["action project-code"],
    sync: ["action install"],
    "add httpx": ["action install"],
    "--project ../x run y": ["action project-code", "write ../x", "execute ../x"],
    "tool run ruff": ["action install", "action project-code"],
    "self update": ["action system"],
    publish: ["action remote-write"],
  },
  notUnderstood: ["", "--config-file x run"],
});
