import { flag, value } from "./declaration/declaration.ts";
import { declareCompressor, GZIP_MODES } from "./compressed-files.ts";

export const xz = declareCompressor({
  name: "xz",
  extension: ".xz",
  options: {
    ...GZIP_MODES,
    "-0": flag,
    "-e, --extreme": flag,
    "-T, --threads": value("number"),
    "-z, --compress": flag,
  },
});
