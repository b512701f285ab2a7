import { attachedValue, declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";

/** `-s` and an operand without `+` set the clock: not declared. */
export const date = declareProgram({
  names: ["date"],
  options: {
    ...HELP,
    "-d, --date": value("data"),
    "-I, --iso-8601": attachedValue(["date", "hours", "minutes", "ns", "seconds"]),
    "-r, --reference": value("read"),
    "-R, --rfc-email": flag,
    "--rfc-3339": value(["date", "ns", "seconds"]),
    "-u, --utc, --universal": flag,
  },
  operands: { first: ["data"] },
  examine: ({ operands }: ParsedCall) =>
    operands.every(({ text }) => text?.startsWith("+") === true)
      ? []
      : "an operand that is not a format sets the clock",
});
