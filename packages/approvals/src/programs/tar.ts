import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { literal, type Word } from "./declaration/word.ts";
import { isLiteral } from "./declaration/path-words.ts";

/** `-I`, `-F`, `--to-command`, `--checkpoint-action` and `--rsh-command` run programs, `-T` and `-g` read options or states from files, `-P` and `--transform` allow names outside the folder, and `--remove-files` deletes: not declared. */
export const tar = declareProgram({
  names: ["tar"],
  options: {
    ...HELP,
    "-a, --auto-compress": flag,
    "--anchored": flag,
    "-c, --create": flag,
    "-C, --directory": value("data"),
    "--exclude": value("pattern"),
    "--exclude-caches": flag,
    "--exclude-vcs": flag,
    "--exclude-vcs-ignores": flag,
    "-f, --file": value("data"),
    "--force-local": flag,
    "--format": value("data"),
    "--group": value("data"),
    "-h, --dereference": flag,
    "-H": value("data"),
    "-j, --bzip2": flag,
    "-J, --xz": flag,
    "-k, --keep-old-files": flag,
    "--keep-newer-files": flag,
    "--lzma": flag,
    "-m, --touch": flag,
    "--mode": value("data"),
    "--mtime": value("data"),
    "-N, --newer, --after-date": value("data"),
    "--newer-mtime": value("data"),
    "--no-anchored": flag,
    "--no-recursion": flag,
    "--no-same-owner": flag,
    "--no-same-permissions": flag,
    "--no-wildcards": flag,
    "--no-xattrs": flag,
    "--numeric-owner": flag,
    "-O, --to-stdout": flag,
    "--one-file-system": flag,
    "--overwrite": flag,
    "--owner": value("data"),
    "-p, --preserve-permissions, --same-permissions": flag,
    "--posix": flag,
    "-r, --append": flag,
    "--recursion": flag,
    "--skip-old-files": flag,
    "--sort": value("data"),
    "--strip-components": value("number"),
    "-t, --list": flag,
    "--totals": flag,
    "-u, --update": flag,
    "--utc": flag,
    "-v, --verbose": flag,
    "-W, --verify": flag,
    "--warning": value("data"),
    "--wildcards": flag,
    "-x, --extract, --get": flag,
    "-X, --exclude-from": value("read"),
    "-z, --gzip, --gunzip, --ungzip": flag,
    "-Z, --compress": flag,
    "--zstd": flag,
  },
  operands: { rest: "data" },
  examine: examineArchive,
  hasUndashedCluster: true,
});

const MODES = ["-c", "-r", "-t", "-u", "-x"];

function examineArchive({ operands, options }: ParsedCall): readonly Effect[] | string {
  const modes = MODES.filter((mode) => options.has(mode));
  const [mode] = modes;
  if (mode === undefined || modes.length > 1) return "it needs exactly one of -c, -r, -t, -u and -x";
  const archives = options.get("-f") ?? [];
  const folders = options.get("-C") ?? [];
  if (![...archives, ...folders].every(isLiteral) || archives.length > 1 || folders.length > 1)
    return "the archive or the folder is not clear";
  const [archive = literal("-")] = archives;
  // `host:file` is an archive on another machine.
  if (/^[^/]*:/.test(archive.text ?? "") && !options.has("--force-local"))
    return "the archive is on another machine";
  const file: readonly Word[] = archive.text === "-" ? [] : [archive];
  const [folder] = folders;
  if (mode === "-t") return file.map((path) => ({ kind: "read", path }));
  if (mode === "-x") {
    const read: readonly Effect[] = file.map((path) => ({ kind: "read", path }));
    if (options.has("-O")) return read;
    return [...read, action("unpack"), { kind: "write", path: folder ?? literal(".") }];
  }
  const sources: Effect[] = [];
  for (const word of operands) {
    if (word.text === undefined) return "a file is only known at run time";
    // The folder applies to the operands after it, whose order is not known here.
    sources.push({ kind: "read", path: word });
    if (folder !== undefined && !word.text.startsWith("/"))
      sources.push({ kind: "read", path: { ...word, text: `${folder.text}/${word.text}` } });
  }
  return [...file.map((path): Effect => ({ kind: "write", path })), ...sources];
}
