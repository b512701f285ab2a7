import { attachedValue, declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const od = declareProgram({
  names: ["od"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-a": flag,
    "-A, --address-radix": value(["d", "n", "o", "x"]),
    "-b": flag,
    "-c": flag,
    "-d": flag,
    "--endian": value(["big", "little"]),
    "-f": flag,
    "-i": flag,
    "-j, --skip-bytes": value("number"),
    "-l": flag,
    "-N, --read-bytes": value("number"),
    "-o": flag,
    "-s": flag,
    "-S": value("number"),
    "--strings": attachedValue("number"),
    "-t, --format": value("data"),
    "-v, --output-duplicates": flag,
    "-w, --width": attachedValue("number"),
    "-x": flag,
  },
  operands: { rest: "read" },
});
