import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const free = declareProgram({
  names: ["free"],
  options: {
    ...HELP,
    "-b, --bytes": flag,
    "-c, --count": value("number"),
    "-g, --gibi": flag,
    "--giga": flag,
    "-h, --human": flag,
    "-k, --kibi": flag,
    "--kilo": flag,
    "-l, --lohi": flag,
    "-m, --mebi": flag,
    "--mega": flag,
    "-s, --seconds": value("number"),
    "--si": flag,
    "-t, --total": flag,
    "-v, --committed": flag,
    "-w, --wide": flag,
  },
});
