import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

/** Only options that print: `--vacuum-size`, `--rotate` and similar ones change the journal. */
export const journalctl = declareProgram({
  names: ["journalctl"],
  options: {
    ...HELP,
    "--no-pager": flag,
    "--since, -S": value("data"),
    "--until, -U": value("data"),
    "--user": flag,
    "-b, --boot": flag,
    "-e, --pager-end": flag,
    "-f, --follow": flag,
    "-k, --dmesg": flag,
    "-n, --lines": value("number"),
    "-o, --output": value("data"),
    "-p, --priority": value("data"),
    "-r, --reverse": flag,
    "-u, --unit": value("data"),
    "-x, --catalog": flag,
  },
});
