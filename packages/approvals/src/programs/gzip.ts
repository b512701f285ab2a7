import { flag } from "./declaration/declaration.ts";
import { declareCompressor, GZIP_MODES } from "./compressed-files.ts";

/** `-r` processes unknown names, and `-N` and `-S` choose other names: not declared. */
export const gzip = declareCompressor({
  name: "gzip",
  extension: ".gz",
  options: { ...GZIP_MODES, "--best": flag, "--fast": flag, "-n, --no-name": flag },
});

/** A script that calls `gzip -d`. */
export const gunzip = declareCompressor({
  name: "gunzip",
  extension: ".gz",
  options: { ...GZIP_MODES, "-n, --no-name": flag },
  expands: true,
});
