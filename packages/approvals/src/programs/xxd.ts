import { declareProgram, flag, value } from "./declaration/declaration.ts";

/** The second operand is the output. `-r` patches it in place. */
export const xxd = declareProgram({
  names: ["xxd"],
  syntax: "leading-words",
  options: {
    "-a": flag,
    "-b": flag,
    "-c": value("number"),
    "-C": flag,
    "-e": flag,
    "-g": value("number"),
    "-i": flag,
    "-l": value("data"),
    "-o": value("data"),
    "-p, -ps": flag,
    "-r": flag,
    "-s": value("data"),
    "-u": flag,
  },
  operands: { first: ["read", "write"] },
});
