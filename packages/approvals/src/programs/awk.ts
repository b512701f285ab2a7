import { declareProgram, information, type ProgramDeclaration, value } from "./declaration/declaration.ts";
import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { isLiteral } from "./declaration/path-words.ts";
import { isHarmlessAwkProgram } from "./awk-program.ts";

/**
 * The first operand is the program, and options end there: all later words are files or assignments. `-f`, `-i`, `-l` and `-E`
 * load unknown programs, and gawk's `-o`, `-d` and `-p` write files: not declared. Gawk connects to files named `/inet/…`, so
 * every file must be known.
 */
function declareAwk(name: string): ProgramDeclaration {
  return declareProgram({
    names: [name],
    syntax: "posix",
    options: {
      "-F, --field-separator": value("data"),
      "-v, --assign": value("data"),
      "--version": information,
    },
    operands: { first: ["pattern"], rest: "read" },
    examine: examineProgram,
  });
}

export const awk = declareAwk("awk");
export const gawk = declareAwk("gawk");
export const mawk = declareAwk("mawk");
export const nawk = declareAwk("nawk");

function examineProgram({ operands: [program, ...files], options }: ParsedCall): readonly Effect[] | string {
  if (program === undefined) return "the program is missing";
  if (!isLiteral(program)) return "the program is only known at run time";
  const assignments = options.get("-v") ?? [];
  if (!assignments.every(({ text }) => text === undefined || /^[A-Za-z_]\w*=/.test(text)))
    return "-v takes an assignment";
  if (files.some(({ text }) => text?.startsWith("/inet") === true)) return "a file is a network connection";
  return isHarmlessAwkProgram(program.text) ? [] : "the program may do more than print";
}
