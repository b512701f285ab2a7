import { declareProgram, HELP, type ProgramDeclaration, value } from "./declaration/declaration.ts";

function declareExpand(name: string): ProgramDeclaration {
  return declareProgram({
    names: [name],
    hasHarmlessOptions: true,
    options: {
      ...HELP,
      "-t, --tabs": value("data"),
    },
    operands: { rest: "read" },
  });
}

export const expand = declareExpand("expand");
export const unexpand = declareExpand("unexpand");
