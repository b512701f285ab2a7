import type { ProgramDeclaration } from "../src/programs/declaration/declaration.ts";
import { describeProgram } from "./describe-program.ts";

/** Tests the declaration of a tool that runs the project's code, whatever its arguments are. */
export function describeProjectTool(program: ProgramDeclaration): void {
  describeProgram(program, {
    understood: {
      "": ["action project-code"],
      "--version": ["action project-code"],
      help: ["action project-code"],
      "-v": ["action project-code"],
      version: ["action project-code"],
      "--flag value src/a.ts": ["action project-code"],
      "--output=../../etc/x": ["action project-code", "write ../../etc/x"],
      "-o /etc/x": ["action project-code", "write /etc/x"],
    },
    notUnderstood: [],
  });
}
