import { fileNames } from "../shell/taint.ts";
import { hasOption, readOptions } from "../shell/options.ts";
import { readSedScript } from "../shell/sed-script.ts";
import type { Value } from "../shell/value.ts";
import type { Effect } from "./effect.ts";

/** Reads a program's arguments and says which files it writes. Undefined: this way of calling it is not known. */
type Writer = (args: readonly Value[]) => readonly Effect[] | undefined;

const write = (files: readonly Value[]): Effect => ({ kind: "write", files });
const read = (files: readonly Value[]): Effect => ({ kind: "read", files });
const RUN: Effect = { kind: "run" };

/** Every operand is written. */
const operands =
  (short = "", long: readonly string[] = []): Writer =>
  (args) => [write(readOptions(args, { short, long }).operands)];

/** The first operand is a mode or an owner, the rest is written. */
const afterFirst: Writer = (args) => {
  const options = readOptions(args, { long: ["--reference"] });
  // `chmod -x file`: the mode looks like an option.
  const symbolic = args.some(({ text }) => /^-[rwxXst]+$/.test(text));
  return [
    write(symbolic || hasOption(options, "--reference") ? options.operands : options.operands.slice(1)),
  ];
};

/** The last operand, or the folder of `-t`, is written; the others are read. */
const lastIsWritten: Writer = (args) => {
  const options = readOptions(args, {
    short: "tSmog",
    long: ["--target-directory", "--suffix", "--mode", "--owner", "--group"],
  });
  const folder = options.values.get("t") ?? options.values.get("--target-directory");
  if (folder !== undefined) return [read(options.operands), write(withDotFiles(options.operands, folder))];
  const sources = options.operands.slice(0, -1);
  return [read(sources), write(withDotFiles(sources, options.operands.slice(-1)))];
};

/** `cp .bashrc ~`: the target may be a folder, and then the name of the source says what is written. */
function withDotFiles(sources: readonly Value[], targets: readonly Value[]): readonly Value[] {
  const [target] = targets;
  if (target === undefined) return targets;
  const names = sources.flatMap(({ text }) => /(?:^|\/)(\.[^/]+)\/?$/.exec(text)?.[1] ?? []);
  return [
    ...targets,
    ...names.filter((name) => name !== "..").map((name) => ({ ...target, text: `${target.text}/${name}` })),
  ];
}

/** Both ends of a move are written. */
const move: Writer = (args) => {
  const options = readOptions(args, { short: "tS", long: ["--target-directory", "--suffix"] });
  const folder = options.values.get("t") ?? options.values.get("--target-directory");
  const sources = folder === undefined ? options.operands.slice(0, -1) : options.operands;
  return [write([...sources, ...withDotFiles(sources, folder ?? options.operands.slice(-1))])];
};

/** A link is as dangerous as where it leads: both ends count as written. */
const link: Writer = (args) => {
  const options = readOptions(args, { short: "tS", long: ["--target-directory", "--suffix"] });
  const [target, ...rest] = options.operands;
  if (target === undefined) return [write(rest)];
  // The target of a symbolic link is seen from the folder of the link.
  const folder = (rest[0]?.text ?? "").replace(/[^/]*$/, "");
  const relative = /^[^/]/.test(target.text) && hasOption(options, "s", "--symbolic");
  return [
    write([relative ? { ...target, text: folder + target.text } : target, ...withDotFiles([target], rest)]),
  ];
};

const sed: Writer = (args) => {
  const options = readOptions(args, { short: "efl", long: ["--expression", "--file", "--line-length"] });
  const scripted =
    options.values.has("e") ||
    options.values.has("f") ||
    options.values.has("--expression") ||
    options.values.has("--file");
  const files = scripted ? options.operands : options.operands.slice(1);
  // `-i.bak` reads as a cluster of letters, the first of which is all that counts.
  const inPlace = args.some(
    ({ text }) => /^-[nErsuz]*i/.test(text) || text.startsWith("--in-place") || text === "-I",
  );
  const scripts = scripted
    ? [...(options.values.get("e") ?? []), ...(options.values.get("--expression") ?? [])]
    : options.operands.slice(0, 1);
  const written = scripts.flatMap(({ text }) =>
    text.length > 4096 ? [] : readSedScript(text).writes.map((file) => ({ ...HERE, text: file })),
  );
  const code = [...(options.values.get("f") ?? []), ...(options.values.get("--file") ?? [])];
  // BSD's `sed -i '' …`: the empty word is a suffix, not a file.
  const real = files.filter(({ text }) => text !== "");
  return [
    ...(inPlace ? [write(real)] : [read(real)]),
    ...(written.length > 0 ? [write(written)] : []),
    ...(code.length > 0 ? [RUN] : []),
  ];
};

/** A program from a file is code, like any other script. */
const awk: Writer = (args) => {
  const options = readOptions(args, { short: "Fvfi", long: ["--file", "--include"] });
  if (hasOption(options, "i", "--include")) return undefined;
  const code = hasOption(options, "f", "--file");
  return [read(code ? options.operands : options.operands.slice(1)), ...(code ? [RUN] : [])];
};

const dd: Writer = (args) => {
  const of = args.filter(({ text }) => text.startsWith("of="));
  const from = args.filter(({ text }) => text.startsWith("if="));
  const strip = (value: Value): Value => ({ ...value, text: value.text.slice(3) });
  return [read(from.map(strip)), write(of.map(strip))];
};

const tar: Writer = (args) => {
  const options = readOptions(args, {
    short: "fCbXT",
    long: ["--file", "--directory", "--exclude", "--exclude-from", "--files-from", "--transform"],
  });
  // The old style has no dash: `tar xzf file`.
  const first = args[0]?.text ?? "";
  const old = /^[a-zA-Z]+$/.test(first) ? first : "";
  const creates =
    hasOption(options, "c", "r", "u", "A", "--create", "--append", "--update") || /[cruA]/.test(old);
  const lists = hasOption(options, "t", "--list") || old.includes("t");
  const named =
    options.values.get("f") ?? options.values.get("--file") ?? (old.includes("f") ? args.slice(1, 2) : []);
  const folder = options.values.get("C") ??
    options.values.get("--directory") ??
    options.values.get("--one-top-level") ?? [HERE];
  const absolute = hasOption(options, "P", "--absolute-names") || old.includes("P");
  if (absolute) return undefined;
  if (lists) return [read(named)];
  return creates
    ? [read(options.operands), write(named.filter(({ text }) => text !== "-"))]
    : [read(named), write(folder)];
};

const unzip: Writer = (args) => {
  const options = readOptions(args, { short: "dxP" });
  if (hasOption(options, "l", "t", "p", "v", "Z")) return [read(options.operands)];
  return [read(options.operands.slice(0, 1)), write(options.values.get("d") ?? [HERE])];
};

const compress: Writer = (args) => {
  const options = readOptions(args, { short: "S" });
  if (hasOption(options, "c", "l", "t", "--stdout", "--list", "--test")) return [read(options.operands)];
  return [write(options.operands)];
};

/** `sort -o file`: a reader that can be told to write. The last words name options whose value is no file to write. */
const readerWith =
  (outputs: readonly string[], valued = ""): Writer =>
  (args) => {
    const short = outputs.filter((name) => name.length === 1).join("") + valued;
    const options = readOptions(args, { short, long: outputs.filter((name) => name.length > 1) });
    const written = outputs.flatMap((name) => options.values.get(name) ?? []);
    return written.length === 0 ? [read(options.operands)] : [read(options.operands), write(written)];
  };

/** The second operand, if there is one, is where the result goes. */
const secondIsWritten =
  (valued: string): Writer =>
  (args) => {
    const [source, output] = readOptions(args, { short: valued }).operands;
    return [read(source === undefined ? [] : [source]), ...(output === undefined ? [] : [write([output])])];
  };

/** `date -s`, `hostname name`: a look, unless it is told to set. */
const unlessSet =
  (sets: (args: readonly Value[]) => boolean): Writer =>
  (args) =>
    sets(args) ? undefined : [read([])];

const yq: Writer = (args) => {
  const options = readOptions(args);
  return hasOption(options, "i", "--inplace")
    ? [write(options.operands.slice(1))]
    : [read(options.operands.slice(1))];
};

const find: Writer = (args) => {
  const writes: Value[] = [];
  for (const [index, { text }] of args.entries()) {
    const next = args[index + 1];
    if (/^-(?:fprint|fprintf|fprint0|fls)$/.test(text) && next !== undefined) writes.push(next);
  }
  const starts = args.slice(
    0,
    Math.max(
      0,
      args.findIndex(({ text }) => /^[-(!]/.test(text)),
    ),
  );
  const deletes = args.some(({ text }) => text === "-delete");
  if (deletes) return [read([]), write([...writes, ...(starts.length === 0 ? [HERE] : starts)])];
  return writes.length > 0 ? [read([]), write(writes)] : [read([])];
};

const rsync: Writer = (args) => {
  const { operands: files } = readOptions(args, {
    short: "efT",
    long: ["--rsh", "--exclude", "--include", "--filter", "--exclude-from"],
  });
  if (files.some(({ text }) => /^[^/]+:/.test(text) || text.startsWith("rsync://")))
    return [{ kind: "network", endpoints: [undefined], sends: true }];
  return [read(files.slice(0, -1)), write(withDotFiles(files.slice(0, -1), files.slice(-1)))];
};

const patch: Writer = (args) => {
  const options = readOptions(args, {
    short: "pidoBDFrxYzg",
    long: ["--input", "--directory", "--output", "--strip"],
  });
  // Without operands the patch itself names the files, below the folder it is applied in.
  return [
    write([
      ...(options.values.get("d") ?? [HERE]),
      ...(options.values.get("o") ?? []),
      ...options.operands.slice(0, 1),
    ]),
  ];
};

const HERE: Value = { text: ".", plain: true, glob: false, splits: false };

const table: Readonly<Record<string, Writer>> = {
  touch: operands("dtr", ["--date", "--reference"]),
  mkdir: operands("mZ", ["--mode"]),
  rmdir: operands(),
  rm: operands(),
  unlink: operands(),
  rimraf: operands(),
  "del-cli": operands(),
  shred: operands("ns"),
  trash: operands(),
  mkdirp: operands(),
  mkfifo: operands("m"),
  mktemp: (args) => [write(readOptions(args, { short: "p", long: ["--suffix", "--tmpdir"] }).operands)],
  truncate: operands("sr", ["--size", "--reference"]),
  tee: operands(),
  mv: move,
  cp: lastIsWritten,
  copy: lastIsWritten,
  cpy: lastIsWritten,
  install: lastIsWritten,
  ln: link,
  chmod: afterFirst,
  chown: afterFirst,
  chgrp: afterFirst,
  sed,
  gsed: sed,
  dd,
  tar,
  gtar: tar,
  bsdtar: tar,
  unzip,
  zip: (args) => [write(readOptions(args, { short: "xbnti" }).operands.slice(0, 1))],
  "7z": () => undefined,
  gzip: compress,
  gunzip: compress,
  xz: compress,
  unxz: compress,
  bzip2: compress,
  bunzip2: compress,
  zstd: compress,
  sort: readerWith(["o", "--output"], "kStT"),
  shuf: readerWith(["o", "--output"], "nei"),
  xmllint: readerWith(["--output"]),
  less: readerWith(["o", "O", "--log-file"], "bhjkpPtTxyz"),
  date: unlessSet((args) =>
    args.some(({ text }) => /^-[a-zA-Z]*s|^--set/.test(text) || /^\d{8,}/.test(text)),
  ),
  hostname: unlessSet((args) => args.some(({ text }) => !text.startsWith("-") || text.startsWith("-F"))),
  tree: readerWith(["o"], "LPI"),
  tac: readerWith([], "s"),
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  yq,
  find,
  gfind: find,
  fd: () => [read([])],
  fdfind: () => [read([])],
  rsync,
  patch,
  split: (args) => [write(readOptions(args, { short: "abClnt" }).operands.slice(1))],
  csplit: () => [write([HERE])],
  xxd: secondIsWritten("cglos"),
  iconv: readerWith(["o", "--output"], "ft"),
  uniq: secondIsWritten("fsw"),
  "new-item": operands(),
  "remove-item": operands(),
  "set-content": operands(),
  "copy-item": lastIsWritten,
  "move-item": operands(),
  md: operands(),
  xcopy: lastIsWritten,
  apply_patch: () => [write([HERE])],
};

export const WRITERS: ReadonlyMap<string, Writer> = new Map(Object.entries(table));

/** The files that a program which only reads is told to look at. */
export function filesRead(args: readonly Value[]): Value[] {
  return args.flatMap((arg) =>
    arg.text.length > 1024
      ? []
      : fileNames(arg.text).map((text) => (text === arg.text ? arg : { ...arg, text })),
  );
}
