import { declareProgram, flag, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { isLiteral } from "./declaration/path-words.ts";

/** `-p` attaches to other processes, and `-u` and `-E` change user and environment: not declared. */
export const strace = declareProgram({
  names: ["strace"],
  syntax: "posix",
  options: {
    "-c": flag,
    "-C": flag,
    "-e": value("data"),
    "-f": flag,
    "-h": flag,
    "-i": flag,
    "-k": flag,
    "-n": flag,
    "-o": value("data"),
    "-P": value("data"),
    "-q": flag,
    "-r": flag,
    "-s": value("number"),
    "-S": value("data"),
    "-t": flag,
    "-T": flag,
    "-v": flag,
    "-x": flag,
    "-y": flag,
    "-z": flag,
    "-Z": flag,
  },
  operands: { rest: "command", atLeast: 1 },
  examine: ({ options }: ParsedCall): readonly Effect[] | string => {
    const effects: Effect[] = [];
    for (const output of options.get("-o") ?? []) {
      // A name after `|` or `!` is a command.
      if (!isLiteral(output) || /^[|!]/.test(output.text)) return "the output is not a plain file";
      // With `-ff`, one file per process.
      effects.push(
        { kind: "write", path: output },
        { kind: "write", path: { text: `${output.text}.*`, isGlob: true } },
      );
    }
    const expressions = options.get("-e") ?? [];
    if (
      !expressions.every((word) => isLiteral(word) && /^(?:trace=|signal=|t=)?!?%?[\w,%]+$/.test(word.text))
    )
      return "an expression is not a plain list of system calls";
    return effects;
  },
});
