import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { entryOf } from "./declaration/path-words.ts";

/** Effects of `cp`, `mv` and `install`. A target that is a folder gets an entry named after each source. */
export function examineTargets({ operands, options }: ParsedCall): readonly Effect[] | string {
  const folder = options.get("-t")?.at(-1);
  const target = folder ?? operands.at(-1);
  if (target === undefined || target.isGlob === true) return "the target is only known at run time";
  const sources = folder === undefined ? operands.slice(0, -1) : operands;
  const entries = sources.map((source) => entryOf(target, source));
  return entries.flatMap((path) => (path === undefined ? [] : [{ kind: "write", path }]));
}
