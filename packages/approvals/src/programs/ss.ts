import { declareProgram, flag } from "./declaration/declaration.ts";

/** `-K` closes sockets, and `-D` and `-F` use files: not declared. */
export const ss = declareProgram({
  names: ["ss"],
  options: {
    "-0": flag,
    "-4": flag,
    "-6": flag,
    "-a": flag,
    "-e": flag,
    "-H": flag,
    "-i": flag,
    "-l": flag,
    "-m": flag,
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
