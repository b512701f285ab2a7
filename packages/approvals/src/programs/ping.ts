import { declareProgram, flag, value } from "./declaration/declaration.ts";

export const ping = declareProgram({
  names: ["ping"],
  options: {
    "-4": flag,
    "-6": flag,
    "-W": value("number"),
    "-c": value("number"),
    "-i": value("number"),
    "-n": flag,
    "-q": flag,
    "-w": value("number"),
  },
  operands: { first: ["host"], atLeast: 1 },
});
