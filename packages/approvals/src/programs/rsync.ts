import { declareProgram, flag, flagWith, HELP, value } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { examineLocalCopy, examineRemoteCopy, isRemote } from "./remote-copy.ts";

/** `--rsync-path` and `-e` run programs, `-R` keeps the folders of the sources, `--log-file`, `--write-batch`, `-b` and `-T` write elsewhere, `-f` and `--files-from` read rules from files, and `--remove-source-files` deletes: not declared. */
export const rsync = declareProgram({
  names: ["rsync"],
  options: {
    ...HELP,
    "-0, --from0": flag,
    "-4": flag,
    "-6": flag,
    "-a, --archive": flagWith({ effects: [action("unpack")] }),
    "-A, --acls": flag,
    "--bwlimit": value("number"),
    "-c, --checksum": flag,
    "--chmod": value("data"),
    // The entries of `folder/` and `.` are also copied.
    "-d, --dirs": flagWith({ effects: [action("unpack")] }),
    "-D": flag,
    "--delete": flag,
    "--delete-after": flag,
    "--delete-before": flag,
    "--delete-during, --del": flag,
    "--delete-excluded": flag,
    "-e, --rsh": value(["ssh"]),
    "-E, --executability": flag,
    "--exclude": value("pattern"),
    "--exclude-from": value("read"),
    "--existing": flag,
    "-g, --group": flag,
    "-h, --human-readable": flag,
    "-H, --hard-links": flag,
    "-i, --itemize-changes": flag,
    "-I, --ignore-times": flag,
    "--ignore-existing": flag,
    "--include": value("pattern"),
    "--include-from": value("read"),
    "--info": value("data"),
    "--inplace": flag,
    "-k, --copy-dirlinks": flag,
    "-l, --links": flagWith({ effects: [action("unpack")] }),
    "-L, --copy-links": flag,
    "--list-only": flag,
    "-m, --prune-empty-dirs": flag,
    "--max-size": value("number"),
    "--min-size": value("number"),
    "--mkpath": flag,
    "-n, --dry-run": flag,
    "--no-group": flag,
    "--no-owner": flag,
    "--no-perms": flag,
    "--no-times": flag,
    "--numeric-ids": flag,
    "-o, --owner": flag,
    "-O, --omit-dir-times": flag,
    "-p, --perms": flag,
    "-P": flag,
    "--partial": flag,
    "--progress": flag,
    "-q, --quiet": flag,
    "-r, --recursive": flagWith({ effects: [action("unpack")] }),
    "-S, --sparse": flag,
    "--safe-links": flag,
    "--size-only": flag,
    "--stats": flag,
    "-t, --times": flag,
    "--timeout": value("number"),
    "-u, --update": flag,
    "-v, --verbose": flag,
    "-W, --whole-file": flag,
    "-x, --one-file-system": flag,
    "-X, --xattrs": flag,
    "-z, --compress": flag,
  },
  operands: { rest: "data", atLeast: 1 },
  examine: examineSynchronization,
});

const DELETING = ["--delete", "--delete-after", "--delete-before", "--delete-during", "--delete-excluded"];

function examineSynchronization(call: ParsedCall): readonly Effect[] | string {
  const { operands, options } = call;
  const target = operands.at(-1);
  if (operands.length < 2 || target === undefined) return "the target is missing";
  const copied = operands.some(isRemote) ? examineRemoteCopy(call) : examineLocalCopy(call);
  if (typeof copied === "string" || !DELETING.some((name) => options.has(name)) || isRemote(target))
    return copied;
  return [...copied, { kind: "delete", path: target, isRecursive: true }];
}
