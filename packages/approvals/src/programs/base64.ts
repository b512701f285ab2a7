import { declareProgram, flag, HELP, type ProgramDeclaration, value } from "./declaration/declaration.ts";

function declareBase64(name: string): ProgramDeclaration {
  return declareProgram({
    names: [name],
    hasHarmlessOptions: true,
    options: {
      ...HELP,
      "-d, --decode": flag,
      "-i, --ignore-garbage": flag,
      "-w, --wrap": value("number"),
    },
    operands: { first: ["read"] },
  });
}

export const base32 = declareBase64("base32");
export const base64 = declareBase64("base64");
