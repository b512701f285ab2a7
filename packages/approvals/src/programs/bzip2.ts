import { flag } from "./declaration/declaration.ts";
import { declareCompressor } from "./compressed-files.ts";

export const bzip2 = declareCompressor({
  name: "bzip2",
  extension: ".bz2",
  options: {
    "-c, --stdout": flag,
    "-d, --decompress": flag,
    "-s, --small": flag,
    "-z, --compress": flag,
  },
});
