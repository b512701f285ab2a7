import { describeProgram } from "../../test/describe-program.ts";
import { md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum } from "./checksums.ts";

for (const program of [md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum]) {
  describeProgram(program, {
    understood: { "a b": ["read a", "read b"], "-c SUMS --quiet": ["read SUMS"], "dist/*": ["read dist/*"] },
    notUnderstood: ["--chec SUMS", "-x a"],
  });
}
