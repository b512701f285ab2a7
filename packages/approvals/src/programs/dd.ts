import { declareProgram, HELP } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal } from "./declaration/word.ts";

export const dd = declareProgram({
  names: ["dd"],
  syntax: "posix",
  options: {
    ...HELP,
  },
  operands: { rest: "data", atLeast: 1 },
  examine: examineOperands,
});

const SETTINGS = new Set([
  "bs",
  "cbs",
  "conv",
  "count",
  "ibs",
  "iflag",
  "obs",
  "oflag",
  "seek",
  "skip",
  "status",
]);

function examineOperands({ operands }: ParsedCall): readonly Effect[] | string {
  const effects: Effect[] = [];
  for (const { text, isGlob } of operands) {
    const [, name = "", value = ""] = /^([a-z]+)=(.*)$/s.exec(text ?? "") ?? [];
    if (isGlob === true || name === "") return `"${text ?? "…"}" is not a setting`;
    if (name === "if") effects.push({ kind: "read", path: literal(value) });
    else if (name === "of") effects.push({ kind: "write", path: literal(value) });
    else if (!SETTINGS.has(name)) return `"${name}" is not declared`;
  }
  return effects;
}
