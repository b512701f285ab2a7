import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const join = declareProgram({
  names: ["join"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-1": value("number"),
    "-2": value("number"),
    "-a": value("number"),
    "--check-order": flag,
    "-e": value("data"),
    "--header": flag,
    "-i, --ignore-case": flag,
    "-j": value("number"),
    "--nocheck-order": flag,
    "-o": value("data"),
    "-t": value("data"),
    "-v": value("number"),
    "-z, --zero-terminated": flag,
  },
  operands: { first: ["read", "read"] },
});
