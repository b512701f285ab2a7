import { describeProgram } from "../../test/describe-program.ts";
import { deno } from "./deno.ts";

describeProgram(deno, {
  understood: {
    "test --allow-read": ["action project-code"],
    "run -A main.ts": ["action project-code"],
    "run https://host.example/x.ts": ["action project-code", "connect https://host.example/x.ts"],
    publish: ["action remote-write"],
  },
  notUnderstood: ["main.ts", ""],
});
