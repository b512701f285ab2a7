import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal, type Word } from "./declaration/word.ts";
import { isLiteral } from "./declaration/path-words.ts";

/** Runs a command with words from its input, which may look like options. `-p` asks on a terminal: not declared. */
export const xargs = declareProgram({
  names: ["xargs"],
  syntax: "posix",
  options: {
    ...HELP,
    "-0, --null": flag,
    "-a, --arg-file": value("read"),
    "-d, --delimiter": value("data"),
    "-E": value("data"),
    "-I": value("data"),
    "-L, --max-lines": value("number"),
    "-n, --max-args": value("number"),
    "-o, --open-tty": flag,
    "-P, --max-procs": value("number"),
    "-r, --no-run-if-empty": flag,
    "-s, --max-chars": value("number"),
    "-t, --verbose": flag,
    "-x, --exit": flag,
  },
  operands: { rest: "data" },
  examine: examineCommand,
});

function examineCommand({ operands, options }: ParsedCall): readonly Effect[] | string {
  const placeholder = options.get("-I")?.at(-1);
  const words: readonly Word[] = operands.length === 0 ? [literal("echo")] : operands;
  const isInput = !options.has("-a");
  if (placeholder === undefined)
    return [{ kind: "command", words: [...words, { text: undefined, maySplit: true, isInput }] }];
  if (!isLiteral(placeholder) || placeholder.text === "") return "the placeholder is only known at run time";
  const { text } = placeholder;
  return [
    {
      kind: "command",
      words: words.map((word) => {
        if (word.text?.includes(text) !== true) return word;
        return word.text === text ? { text: undefined, isInput } : { text: undefined };
      }),
    },
  ];
}
