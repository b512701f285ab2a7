import {
  declareProgram,
  flag,
  HELP,
  type OptionTable,
  type ProgramDeclaration,
} from "./declaration/declaration.ts";

/** Declares a program of the sha256sum family. `-c` also reads the files that the list names. */
export function declareChecksums(name: string, options: OptionTable = {}): ProgramDeclaration {
  return declareProgram({
    names: [name],
    hasHarmlessOptions: true,
    options: {
      ...HELP,
      "-b, --binary": flag,
      "-c, --check": flag,
      "--ignore-missing": flag,
      "--quiet": flag,
      "--status": flag,
      "--strict": flag,
      "-t, --text": flag,
      "--tag": flag,
      "-w, --warn": flag,
      "-z, --zero": flag,
      ...options,
    },
    operands: { rest: "read" },
  });
}

export const md5sum = declareChecksums("md5sum");
export const sha1sum = declareChecksums("sha1sum");
export const sha224sum = declareChecksums("sha224sum");
export const sha256sum = declareChecksums("sha256sum");
export const sha384sum = declareChecksums("sha384sum");
export const sha512sum = declareChecksums("sha512sum");
