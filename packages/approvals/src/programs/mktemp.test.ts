import { describeProgram } from "../../test/describe-program.ts";
import { mktemp } from "./mktemp.ts";

describeProgram(mktemp, {
  understood: {
    "": ["write /tmp/tmp.XXXXXXXXXX"],
    "-d": ["write /tmp/tmp.XXXXXXXXXX"],
    "build/x.XXXX": ["write build/x.XXXX"],
    "-p out -t x.XXX": ["write out/x.XXX"],
    "--tmpdir x.XXX": ["write /tmp/x.XXX"],
  },
  notUnderstood: ["-u", "--dry-run", "<unknown>", "-p <unknown>", "a b", "a*"],
});
