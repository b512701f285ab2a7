import { attachedValue, declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

/** The second operand is the output. */
export const uniq = declareProgram({
  names: ["uniq"],
  options: {
    ...HELP,
    "--all-repeated": attachedValue(["none", "prepend", "separate"]),
    "-c, --count": flag,
    "-d, --repeated": flag,
    "-D": flag,
    "-f, --skip-fields": value("number"),
    "--group": attachedValue(["append", "both", "prepend", "separate"]),
    "-i, --ignore-case": flag,
    "-s, --skip-chars": value("number"),
    "-u, --unique": flag,
    "-w, --check-chars": value("number"),
    "-z, --zero-terminated": flag,
  },
  operands: { first: ["read", "write"] },
});
