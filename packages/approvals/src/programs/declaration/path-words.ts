import { baseName, withoutEndSlashes } from "../../files/path.ts";
import type { Word } from "./word.ts";

/** A word that is the same for every run of the script. */
export interface LiteralWord extends Word {
  readonly text: string;
}

export function isLiteral(word: Word | undefined): word is LiteralWord {
  return word?.text !== undefined && word.isGlob !== true && word.maySplit !== true;
}

/** Names of sources and leftovers. In hidden folders (`.git`, `.github`, `.vscode`), a file with such a name has no effect. */
const INERT_NAME =
  /^(?:__pycache__|build|coverage|dist|node_modules|target|\.mypy_cache|\.pytest_cache|\.ruff_cache)$|\.(?:DS_Store|bak|c|cc|class|cpp|css|go|h|hpp|html|java|js|jsx|kt|log|map|o|orig|php|py|pyc|pyo|rb|rej|rs|scss|svelte|swift|swp|tmp|ts|tsx|txt|vue)$/;

/**
 * Everything below a folder as patterns, or the entries below it whose names match. Hidden folders have a separate pattern,
 * because a star does not match them.
 */
export function entriesBelow(folder: Word, names?: string): readonly Word[] {
  const prefix = folder.text === "/" ? "" : withoutEndSlashes(folder.text ?? "");
  const tree = (text: string): Word => ({ text: `${prefix}/${text}`, isGlob: true });
  if (names === undefined) return [tree("**"), tree("**/.*")];
  const visible = tree(`**/${names}`);
  return INERT_NAME.test(names) ? [visible] : [visible, tree(`**/.*/**/${names}`)];
}

/**
 * The entry that a copy of this file gets in a folder: `out/a.ts` for `src/a.ts`. Undefined for `.`, `..` and `/`, whose
 * copies are not named after them.
 */
export function entryOf(folder: Word, source: Word): Word | undefined {
  const name = baseName(withoutEndSlashes(source.text ?? ""));
  if (name === "" || name === "." || name === ".." || folder.text === undefined) return undefined;
  const text = `${withoutEndSlashes(folder.text)}/${name}`;
  return source.isGlob === true || folder.isGlob === true ? { text, isGlob: true } : { text };
}
