import { declareProgram, HELP, type ProgramDeclaration } from "./declaration/declaration.ts";

function declareWhoami(name: string): ProgramDeclaration {
  return declareProgram({
    names: [name],
    options: {
      ...HELP,
    },
  });
}

export const arch = declareWhoami("arch");
export const groups = declareWhoami("groups");
export const logname = declareWhoami("logname");
export const tty = declareWhoami("tty");
export const whoami = declareWhoami("whoami");
