import { attachedValue, declareProgram, flag, information, value } from "./declaration/declaration.ts";
import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { applyRole } from "./declaration/apply-role.ts";
import { isLiteral } from "./declaration/path-words.ts";
import type { Word } from "./declaration/word.ts";
import { isHarmlessSedScript } from "./sed-script.ts";

/** `-f` reads an unknown script from a file, and `--follow-symlinks` edits elsewhere: not declared. */
export const sed = declareProgram({
  names: ["sed"],
  options: {
    "--debug": flag,
    "-e, --expression": value("pattern"),
    "-E, -r, --regexp-extended": flag,
    "--help": information,
    "-i, --in-place": attachedValue("data"),
    "-l, --line-length": value("number"),
    "-n, --quiet, --silent": flag,
    "--posix": flag,
    "-s, --separate": flag,
    "--sandbox": flag,
    "-u, --unbuffered": flag,
    "--version": information,
    "-z, --null-data": flag,
  },
  operands: { rest: "data" },
  examine: examineScript,
});

function examineScript({ operands, options }: ParsedCall): readonly Effect[] | string {
  const isInPlace = options.has("-i");
  let scripts = options.get("-e");
  let files = operands;
  if (scripts === undefined) {
    // BSD's `sed -i '' SCRIPT FILE`: the empty word is the script for GNU sed, and the next one for BSD.
    scripts = operands.slice(0, isInPlace && operands[0]?.text === "" ? 2 : 1);
    files = operands.slice(1);
  }
  if (scripts.length === 0) return "the script is missing";
  if (!scripts.every(isLiteral)) return "the script is only known at run time";
  const script = scripts.map(({ text }) => text).join("\n");
  if (!isHarmlessSedScript(script)) return "the script may do more than edit text";
  return fileEffects(files, isInPlace, options.get("-i") ?? []);
}

function fileEffects(
  files: readonly Word[],
  isInPlace: boolean,
  suffixes: readonly Word[],
): readonly Effect[] | string {
  const effects: Effect[] = [];
  for (const file of files) {
    if (file.text === "") continue;
    const problem = applyRole(isInPlace ? "read-write" : "read", file, effects);
    if (problem !== undefined) return problem;
    for (const { text = "" } of suffixes) {
      if (!/^[\w.~-]+$/.test(text)) return `"${text}" is not a plain suffix`;
      effects.push({ kind: "write", path: { ...file, text: `${file.text}${text}` } });
    }
  }
  return effects;
}
