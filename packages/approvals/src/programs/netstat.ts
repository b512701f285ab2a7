import { declareProgram, flag } from "./declaration/declaration.ts";

export const netstat = declareProgram({
  names: ["netstat"],
  options: {
    "-4": flag,
    "-6": flag,
    "-a": flag,
    "-e": flag,
    "-i": flag,
    "-l": flag,
    "-n": flag,
    "-o": flag,
    "-p": flag,
    "-r": flag,
    "-s": flag,
    "-t": flag,
    "-u": flag,
    "-w": flag,
    "-x": flag,
  },
});
