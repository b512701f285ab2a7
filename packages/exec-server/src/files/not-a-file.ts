import { Refusal } from "../wire/refusal.ts";
import { CODES } from "../wire/codes.ts";
import type { NativePath } from "../wire/path-uri.ts";

export function notAFile(path: NativePath): Refusal {
  return new Refusal(CODES.invalidRequest, `path \`${String(path)}\` is not a file`);
}
