import { describeProgram } from "../../test/describe-program.ts";
import { interpreters } from "./interpreters.ts";

describeProgram(interpreters, {
  understood: {
    "": ["stdin-code other"],
    "--version": [],
    "script.rb --any": ["execute script.rb"],
    "-e 'puts 1'": ["inline-code puts 1"],
    Main: ["execute Main"],
  },
  notUnderstood: ["-I /tmp x.rb", "-cp /tmp Main", "<unknown>", "--ver"],
});
