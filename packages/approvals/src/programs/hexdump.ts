import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const hexdump = declareProgram({
  names: ["hexdump"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-b, --one-byte-octal": flag,
    "-c, --one-byte-char": flag,
    "-C, --canonical": flag,
    "-d, --two-bytes-decimal": flag,
    "-e, --format": value("data"),
    "-f, --format-file": value("read"),
    "-n, --length": value("data"),
    "-o, --two-bytes-octal": flag,
    "-s, --skip": value("data"),
    "-v, --no-squeezing": flag,
    "-x, --two-bytes-hex": flag,
  },
  operands: { rest: "read" },
});
