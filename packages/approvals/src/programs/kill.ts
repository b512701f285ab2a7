import { declareProgram } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";

/** Negative process numbers, and maybe words known only at run time, reach whole groups or everything: not understood. */
export const kill = declareProgram({
  names: ["kill"],
  syntax: "posix",
  operands: { rest: "data", acceptsAnyWord: true, atLeast: 1 },
  effects: [action("process")],
  examine: examineProcesses,
});

function examineProcesses({ operands }: ParsedCall): readonly Effect[] | string {
  const [first, second] = operands.map(({ text }) => text);
  const hasNamedSignal = first === "-s" && second !== undefined && /^(?:SIG)?[A-Z]+[12]?$|^\d+$/.test(second);
  const hasSignal = first !== undefined && /^-(?:\d{1,2}|(?:SIG)?[A-Z]+[12]?)$/.test(first);
  const processes = operands.slice(hasNamedSignal ? 2 : hasSignal ? 1 : 0);
  if (processes.length === 0) return "no process is named";
  const isClear = processes.every(
    ({ text, isGlob, isNumber }) =>
      isNumber === true || (isGlob !== true && /^(?:%[\d+%-]?|\d+)$/.test(text ?? "")),
  );
  return isClear ? [] : "a process is not named by its number";
}
