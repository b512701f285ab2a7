import { describeProgram } from "../../test/describe-program.ts";
import { bash } from "./bash.ts";

describeProgram(bash, {
  understood: {
    "": ["stdin-code shell"],
    "scripts/build.sh --all": ["execute scripts/build.sh"],
    "-eo pipefail scripts/ci.sh": ["execute scripts/ci.sh"],
    "-c 'npm test'": ["shell npm test"],
    "-lc 'npm test'": ["shell npm test"],
    "-n x.sh": ["execute x.sh"],
    "--version": [],
  },
  notUnderstood: [
    "-c 'echo $0' name",
    "--rcfile x",
    "--init-file x",
    "-i",
    "-s",
    "<unknown>",
    "-O extglob x.sh",
    "+e x.sh",
  ],
});
