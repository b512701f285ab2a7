import { ALL_PROGRAMS } from "./all-programs.ts";
import type { ProgramDeclaration } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Word } from "./declaration/word.ts";

const byName = new Map<string, ProgramDeclaration>();
for (const program of ALL_PROGRAMS) {
  for (const name of program.names) {
    if (byName.has(name)) throw new Error(`The program ${name} is declared twice.`);
    byName.set(name, program);
  }
}

/** Finds the declaration of a program by any of its names. */
export function findProgram(name: string): ProgramDeclaration | undefined {
  return byName.get(name);
}

/** The name of a system program (`git` for `/usr/bin/git`). Any other program keeps its path. */
export function nameOfProgram(text: string): string {
  if (!text.startsWith("/")) return text;
  return /^\/(?:usr\/(?:local\/)?)?s?bin\/([\w.+[-]+)$/.exec(text)?.[1] ?? text;
}

/** A call of a program by its path, which is project code if it is in the workspace. */
export function callByPath(program: Word, args: readonly Word[]): ParsedCall {
  return {
    path: [program.text ?? ""],
    options: new Map(),
    hasOption: () => false,
    operands: args,
    effects: [{ kind: "execute", path: program }],
    normalized: [program, ...args],
  };
}
