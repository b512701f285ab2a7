import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { isLiteral } from "./declaration/path-words.ts";

/** The letter `e` without a dash prints the environment of other processes: not understood. */
export const ps = declareProgram({
  names: ["ps"],
  options: {
    ...HELP,
    "-a": flag,
    "-A": flag,
    "-c": flag,
    "-C": value("data"),
    "--cols": value("number"),
    "-e": flag,
    "-f": flag,
    "-F": flag,
    "--forest": flag,
    "-G, --Group": value("data"),
    "-H": flag,
    "-j": flag,
    "-l": flag,
    "-L": flag,
    "-m": flag,
    "--no-headers": flag,
    "-o, --format": value("data"),
    "-p, --pid": value("data"),
    "--ppid": value("data"),
    "-s, --sid": value("data"),
    "--sort": value("data"),
    "-t, --tty": value("data"),
    "-T": flag,
    "-u, --user": value("data"),
    "-U, --User": value("data"),
    "-w": flag,
    "-y": flag,
  },
  operands: { rest: "data" },
  examine: examineLetters,
});

/** Letters without a dash (`aux`), and numbers of processes. */
function examineLetters({ operands }: ParsedCall): readonly Effect[] | string {
  const isFormat = (index: number): boolean => /^[a-z]*o$/.test(operands[index - 1]?.text ?? "");
  const isKnown = operands.every(
    (word, index) =>
      isLiteral(word) && (/^(?:[acfhjlnrsuvwxSTo]+|\d+(?:,\d+)*)$/.test(word.text) || isFormat(index)),
  );
  return isKnown ? [] : "an operand is neither a list of known letters nor a process";
}
