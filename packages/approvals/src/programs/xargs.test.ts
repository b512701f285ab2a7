import { describeProgram } from "../../test/describe-program.ts";
import { xargs } from "./xargs.ts";

describeProgram(xargs, {
  understood: {
    "": ["command echo <unknown>"],
    "-0 grep -n x": ["command grep -n x <unknown>"],
    "-n1 -P4 rm -f": ["command rm -f <unknown>"],
    "-I{} cp {} out/{}": ["command cp <unknown> <unknown>"],
    "-I % sh -c 'rm %'": ["command sh -c <unknown>"],
    "-a files wc -l": ["read files", "command wc -l <unknown>"],
  },
  notUnderstood: ["-i rm", "--replace rm", "--max-a=1 rm", "-p rm", "-I <unknown> rm", "<unknown>", "-e rm"],
});
