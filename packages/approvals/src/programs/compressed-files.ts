import {
  declareProgram,
  flag,
  HELP,
  type OptionTable,
  type ProgramDeclaration,
} from "./declaration/declaration.ts";
import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Word } from "./declaration/word.ts";

/** The levels `-1` (fast) to `-9` (small). */
export const COMPRESSION_LEVELS: OptionTable = Object.fromEntries(
  "123456789".split("").map((level) => [`-${level}`, flag]),
);

/** Options of gzip and similar programs. */
const COMMON_OPTIONS: OptionTable = {
  ...HELP,
  ...COMPRESSION_LEVELS,
  "-f, --force": flag,
  "-k, --keep": flag,
  "-q, --quiet": flag,
  "-t, --test": flag,
  "-v, --verbose": flag,
};

/** The modes as gzip and xz name them. */
export const GZIP_MODES: OptionTable = {
  "-c, --stdout, --to-stdout": flag,
  "-d, --decompress, --uncompress": flag,
  "-l, --list": flag,
};

export interface Compressor {
  readonly name: string;
  readonly extension: string;
  readonly options: OptionTable;
  /** Set if it expands without an option. */
  readonly expands?: boolean | undefined;
}

/** Declares gzip or a similar program, which replaces each operand with a file with another extension. */
export function declareCompressor({
  name,
  extension,
  options,
  expands = false,
}: Compressor): ProgramDeclaration {
  return declareProgram({
    names: [name],
    options: { ...COMMON_OPTIONS, ...options },
    operands: { rest: "read" },
    examine: (call: ParsedCall) => {
      const has = (option: string): boolean => call.options.has(option);
      if (hasTwoModes(call)) return "names two modes";
      if (has("-c") || has("-l") || has("-t")) return [];
      return compressionEffects(call.operands, extension, {
        expands: expands || has("-d"),
        keeps: has("-k"),
      });
    },
  });
}

/**
 * The files that `gzip` and similar programs write beside their operands: with the extension appended, or removed on expansion.
 * The operands are deleted unless they are kept.
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

/** Whether a call has two modes. The last one wins, and a declaration does not know the order. */
export function hasTwoModes({ options }: ParsedCall): boolean {
  return ["-d", "-l", "-t", "-z"].filter((mode) => options.has(mode)).length > 1;
}

const COMPRESSED = /\.(?:bz2|gz|lzma|t(?:bz2?|gz|lz|xz|zst)|xz|zst)$/;

/** `a.gz` becomes `a`, and `a.tgz` becomes `a.tar`. */
function expandedNames(text: string): readonly string[] {
  const name = text.replace(/\.\w+$/, "");
  return /\.t\w+$/.test(text) ? [name, `${name}.tar`] : [name];
}
