import { declareProgram, flag, HELP, type ProgramDeclaration, value } from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";

/** On a terminal, `!` runs any command. `-o`, `-k` and `+` are not declared. */
function declareLess(name: string): ProgramDeclaration {
  return declareProgram({
    names: [name],
    options: {
      ...HELP,
      "-NUMBER": value("number"),
      "-e": flag,
      "-F": flag,
      "-i": flag,
      "-n": flag,
      "-N": flag,
      "-r": flag,
      "-R": flag,
      "-s": flag,
      "-S": flag,
      "-X": flag,
    },
    operands: { rest: "read" },
    effects: [action("project-code")],
  });
}

export const less = declareLess("less");
export const more = declareLess("more");
