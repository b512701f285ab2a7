import { attachedValue, declareProgram, flag, flagWith, HELP, value } from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";
import { examineTargets } from "./copy-targets.ts";

/** Copied folders and links include names that only the disk knows. Links (`-l`, `-s`), backups and `--parents` are undeclared. */
export const cp = declareProgram({
  names: ["cp"],
  options: {
    ...HELP,
    "-a, --archive": flagWith({ effects: [action("unpack")] }),
    "--attributes-only": flag,
    "-d": flagWith({ effects: [action("unpack")] }),
    "-f, --force": flag,
    "-H": flag,
    "-i, --interactive": flag,
    "-L, --dereference": flag,
    "-n, --no-clobber": flag,
    "--no-preserve": value("data"),
    "-p": flag,
    "-P, --no-dereference": flagWith({ effects: [action("unpack")] }),
    "--preserve": attachedValue("data"),
    "-R, -r, --recursive": flagWith({ effects: [action("unpack")] }),
    "--reflink": attachedValue(["always", "auto", "never"]),
    "--remove-destination": flag,
    "--sparse": value(["always", "auto", "never"]),
    "-t, --target-directory": value("write", { operands: { rest: "read", atLeast: 1 } }),
    "-T, --no-target-directory": flag,
    "-u, --update": flag,
    "-v, --verbose": flag,
    "-x, --one-file-system": flag,
  },
  operands: { rest: "read", last: "write", atLeast: 2 },
  examine: examineTargets,
});
