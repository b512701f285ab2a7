import { describeProgram } from "../../test/describe-program.ts";
import { zip } from "./zip.ts";

describeProgram(zip, {
  understood: {
    "-r out.zip src": ["write out.zip", "read src"],
    "-9qr out src": ["write out", "read src", "write out.zip"],
    "-r - src": ["read src"],
    "-r out.zip . -x '*.git*'": ["write out.zip", "read ."],
  },
  notUnderstood: [
    "-x n @ ../evil.zip a",
    "-x n zip -r ../evil.zip a",
    "-x n ok.zip -r ../evil.zip a",
    "-rx n ok.zip -q ../evil.zip a",
    "-r out.zip a -x -O ../evil.zip",
    "-r out.zip a -i -O ../evil.zip",
    "",
    "-m out.zip a",
    "-T -TT sh out.zip a",
    "-TT sh out a",
    "--unzip-command=sh a b",
    "-@ a",
    "a* b",
    "* x",
    "out.zip <unknown>",
    "-b /tmp a b",
  ],
});
