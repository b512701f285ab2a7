import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const comm = declareProgram({
  names: ["comm"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-1": flag,
    "-2": flag,
    "-3": flag,
    "--check-order": flag,
    "--nocheck-order": flag,
    "--output-delimiter": value("data"),
    "--total": flag,
    "-z, --zero-terminated": flag,
  },
  operands: { first: ["read", "read"], atLeast: 2 },
});
