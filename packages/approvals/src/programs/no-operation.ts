import { declareProgram, type ProgramDeclaration } from "./declaration/declaration.ts";

/** Ignores all arguments. */
function declareNoOperation(name: string): ProgramDeclaration {
  return declareProgram({ names: [name], operands: { rest: "data", acceptsAnyWord: true } });
}

export const colon = declareNoOperation(":");
export const falseProgram = declareNoOperation("false");
export const trueProgram = declareNoOperation("true");
