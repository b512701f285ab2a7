import { declareProgram, flag, HELP, type ProgramDeclaration } from "./declaration/declaration.ts";

function declareZcat(name: string): ProgramDeclaration {
  return declareProgram({
    names: [name],
    options: {
      ...HELP,
      "-f": flag,
      "-q": flag,
      "-v": flag,
    },
    operands: { rest: "read" },
  });
}

export const bzcat = declareZcat("bzcat");
export const xzcat = declareZcat("xzcat");
export const zcat = declareZcat("zcat");
export const zstdcat = declareZcat("zstdcat");
