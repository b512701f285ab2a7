import { declareProgram, type ProgramDeclaration } from "./declaration/declaration.ts";
import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { isLiteral } from "./declaration/path-words.ts";
import type { Word } from "./declaration/word.ts";

/** `-v` and `-R` take the name of a variable, whose subscript is evaluated and could run a command. */
const EVALUATING = new Set(["-R", "-v"]);

const UNARY = /^-[bcdefghknprstuwxzGLNOS]$/;
const BINARY = /^(?:=|==|!=|-(?:ef|eq|ge|gt|le|lt|ne|nt|ot))$/;

/** Declares `test` and `[`, which only check files and compare texts and numbers. */
function declareTest(name: string): ProgramDeclaration {
  return declareProgram({
    names: [name],
    syntax: "posix",
    operands: { rest: "data", acceptsAnyWord: true },
    examine: ({ operands }: ParsedCall) => {
      if (name === "test") return examineExpression(operands);
      return operands.at(-1)?.text === "]"
        ? examineExpression(operands.slice(0, -1))
        : "the last ] is missing";
    },
  });
}

export const bracket = declareTest("[");
export const testProgram = declareTest("test");

function examineExpression(words: readonly Word[]): readonly Effect[] | string {
  if (words.every(isLiteral)) {
    const evaluating = words.find(({ text }) => EVALUATING.has(text));
    return evaluating === undefined ? [] : `${evaluating.text} evaluates the name of a variable`;
  }
  if (words.some(({ isGlob, maySplit }) => isGlob === true || maySplit === true))
    return "a word could become several words";
  // Operators must be known, even if operands are not.
  const [first, second] = words[0]?.text === "!" ? words.slice(1) : words;
  const count = words[0]?.text === "!" ? words.length - 1 : words.length;
  if (count === 1) return [];
  if (count === 2 && UNARY.test(first?.text ?? "")) return [];
  if (count === 3 && BINARY.test(second?.text ?? "")) return [];
  return "an operator is only known at run time";
}
