import { isAbsolute } from "../files/path.ts";
import type { Places } from "../files/places.ts";
import type { Invocation } from "./invocation.ts";
import { UNKNOWN, type Value } from "./value.ts";

/** The absolute paths that an argument may mean, one for each folder the command may run in. */
export function targetPaths({ text }: Value, { cwds }: Invocation, places: Places): string[] {
  if (isAbsolute(text)) return [places.absolute(text, "/")];
  if (text.startsWith(UNKNOWN)) return [UNKNOWN];
  return cwds.map((cwd) => (cwd === UNKNOWN ? UNKNOWN : places.absolute(text, cwd)));
}
