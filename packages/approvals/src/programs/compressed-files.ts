import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Word } from "./declaration/word.ts";

/**
 * The files that `gzip` and its relatives write beside their operands: with the extension appended, or removed when they
 * expand. The operands are deleted unless they are kept.
 */
export function compressionEffects(
  files: readonly Word[],
  extension: string,
  { expands, keeps }: { readonly expands: boolean; readonly keeps: boolean },
): readonly Effect[] | string {
  const effects: Effect[] = [];
  for (const file of files) {
    const { text } = file;
    if (text === undefined || text === "-") continue;
    // gzip also strips `-gz`, `-z` and `_z`: only names with a dot are understood.
    if (expands && !COMPRESSED.test(text)) return `"${text}" has no known extension`;
    const names = expands ? expandedNames(text) : [`${text}${extension}`];
    for (const name of names) effects.push({ kind: "write", path: { ...file, text: name } });
    if (!keeps) effects.push({ kind: "delete", path: file, isRecursive: false });
  }
  return effects;
}

/** Whether a call names two modes: the last one wins, and a declaration does not know which that is. */
export function hasTwoModes({ options }: ParsedCall): boolean {
  return ["-d", "-l", "-t", "-z"].filter((mode) => options.has(mode)).length > 1;
}

const COMPRESSED = /\.(?:bz2|gz|lzma|t(?:bz2?|gz|lz|xz|zst)|xz|zst)$/;

/** `a.gz` becomes `a`, and `a.tgz` becomes `a.tar`. */
function expandedNames(text: string): readonly string[] {
  const name = text.replace(/\.\w+$/, "");
  return /\.t\w+$/.test(text) ? [name, `${name}.tar`] : [name];
}
