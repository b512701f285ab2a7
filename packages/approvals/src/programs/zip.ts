import { declareProgram, flag, value } from "./declaration/declaration.ts";
import { COMPRESSION_LEVELS } from "./compressed-files.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal } from "./declaration/word.ts";
import { isLiteral } from "./declaration/path-words.ts";

/** The first of the names after `-i` and `-x`. A word with a dash would be the next option, not a name. */
export const LISTED_NAME = /^[^-].*$/s;

/** `-T` with `-TT` runs a program, `-m` deletes the sources, and `-@` reads names: not declared. */
export const zip = declareProgram({
  names: ["zip"],
  options: {
    "-0": flag,
    ...COMPRESSION_LEVELS,
    "-D": flag,
    "-i": value(LISTED_NAME),
    "-j": flag,
    "-q": flag,
    "-r": flag,
    "-u": flag,
    "-v": flag,
    "-x": value(LISTED_NAME),
    "-X": flag,
    "-y": flag,
  },
  operands: { first: ["output"], rest: "read", atLeast: 1 },
  examine: ({ operands: [archive], normalized }: ParsedCall): readonly Effect[] | string => {
    if (!isLiteral(archive)) return "the archive is only known at run time";
    // The names of `-i` and `-x` continue to the next option or `@`, so an archive after them counts as one of them.
    const texts = normalized.slice(1).map(({ text = "" }) => text);
    const list = texts.findIndex((text) => /^-\w*[ix]/.test(text));
    const isListed = list !== -1 && list < texts.indexOf(archive.text);
    if (isListed || archive.text === "@") return "the archive is one of the names of -i or -x";
    return archive.text === "-" || /\.[^/]*$/.test(archive.text)
      ? []
      : [{ kind: "write", path: literal(`${archive.text}.zip`) }];
  },
});
