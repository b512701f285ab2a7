import { describeProgram } from "../../test/describe-program.ts";
import { terraform } from "./terraform.ts";

describeProgram(terraform, {
  understood: {
    "fmt -check": ["action project-code"],
    init: ["action install", "action project-code"],
    "plan -out=plan.bin": ["action remote-read"],
    "state list": ["action remote-read"],
    "state rm x": ["action remote-write"],
    "apply -auto-approve": ["action remote-write"],
    "-chdir=../x plan": ["action remote-read", "write ../x", "execute ../x"],
  },
  notUnderstood: ["", "no-such-verb"],
});
