import { attachedValue, declareProgram, flag, information, value } from "./declaration/declaration.ts";
import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { isLiteral } from "./declaration/path-words.ts";
import type { Word } from "./declaration/word.ts";
import { isPlainPerlSubstitution } from "./perl-substitution.ts";

/**
 * Plain substitutions (`-pe`, `-pi -e`) only change the files that they name. All other code counts as project code. `-I`, `-S`,
 * `-x`, `-s`, `-T`, `-d` and `-D` are not declared.
 */
export const perl = declareProgram({
  names: ["perl"],
  syntax: "posix",
  options: {
    "-0": flag,
    // The digits of `-0777`.
    "-7": flag,
    "-a": flag,
    "-c": flag,
    "-e": value("data"),
    "-E": value("data"),
    "-F": attachedValue("code"),
    "-i": attachedValue("data"),
    "-l": flag,
    "-m": attachedValue("code"),
    "-M": attachedValue("code"),
    "-n": flag,
    "-p": flag,
    "-v": information,
    "-V": information,
    "-w": flag,
    "-W": flag,
    "--version": information,
  },
  operands: { rest: "data" },
  examine: examineCode,
});

function examineCode({ operands, options }: ParsedCall): readonly Effect[] | string {
  const code = [...(options.get("-e") ?? []), ...(options.get("-E") ?? [])];
  if (code.length === 0) return examineScript(operands);
  if (!code.every(isLiteral)) return "the code is only known at run time";
  const readsFiles = options.has("-n") || options.has("-p");
  const isPlain =
    readsFiles && code.every(({ text }) => isPlainPerlSubstitution(text)) && operands.every(isPlainFile);
  const effects: Effect[] = isPlain ? [] : code.map((word) => ({ kind: "inline-code", code: word }));
  if (!readsFiles) return effects;
  const suffixes = options.get("-i");
  for (const file of operands) {
    if (file.text === undefined) return "a file is only known at run time";
    effects.push({ kind: "read", path: file });
    if (suffixes === undefined) continue;
    effects.push({ kind: "write", path: file });
    for (const { text = "" } of suffixes) {
      if (!/^[\w.~-]+$/.test(text)) return `"${text}" is not a plain suffix`;
      effects.push({ kind: "write", path: { ...file, text: `${file.text}${text}` } });
    }
  }
  return effects;
}

function examineScript(operands: readonly Word[]): readonly Effect[] | string {
  const [script] = operands;
  if (script === undefined) return [{ kind: "stdin-code", language: "other" }];
  if (!isLiteral(script)) return "the script is only known at run time";
  if (script.text === "-") return [{ kind: "stdin-code", language: "other" }];
  return script.text.startsWith("-")
    ? `option ${script.text} is not declared`
    : [{ kind: "execute", path: script }];
}

/** Perl interprets `command |` and `> file` as a command and a redirection. A pattern may match such a name. */
function isPlainFile(word: Word): boolean {
  return isLiteral(word) && /^[\w./@+-]+$/.test(word.text) && !word.text.startsWith("-");
}
