import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { literal, type Word } from "./declaration/word.ts";
import { isLiteral } from "./declaration/path-words.ts";
import { isHttpAddress, nameOfDownload } from "./http-address.ts";

/** `-K` reads options from a file, `-x`, `--resolve`, `--connect-to` and `--unix-socket` connect elsewhere, `-n`, `-E` and `--key` use credentials, and `--trace` and `--stderr` write: not declared. Only http and https are understood. */
export const curl = declareProgram({
  names: ["curl"],
  options: {
    ...HELP,
    "-#, --progress-bar": flag,
    "-0, --http1.0": flag,
    "-4, --ipv4": flag,
    "-6, --ipv6": flag,
    "-A, --user-agent": value("data"),
    "-b, --cookie": value("data"),
    "-c, --cookie-jar": value("output"),
    "--cacert": value("read"),
    "--compressed": flag,
    "--connect-timeout": value("number"),
    "--create-dirs": flag,
    "-d, --data, --data-ascii": value("data"),
    "-D, --dump-header": value("output"),
    "--data-binary": value("data"),
    "--data-raw": value("data"),
    "--data-urlencode": value("data"),
    "-e, --referer": value("data"),
    "--expect100-timeout": value("number"),
    "-f, --fail": flag,
    "-F, --form": value("data"),
    "--fail-early": flag,
    "--fail-with-body": flag,
    "--form-string": value("data"),
    "-g, --globoff": flag,
    "-G, --get": flag,
    "-H, --header": value("data"),
    "--http1.1": flag,
    "--http2": flag,
    "-i, --include, --show-headers": flag,
    "-I, --head": flag,
    "-J, --remote-header-name": flag,
    "--json": value("data"),
    "-k, --insecure": flag,
    "-L, --location": flag,
    "--limit-rate": value("number"),
    "-m, --max-time": value("number"),
    "--max-filesize": value("number"),
    "--max-redirs": value("number"),
    "-N, --no-buffer": flag,
    "--no-progress-meter": flag,
    "-o, --output": value("output"),
    "-O, --remote-name": flag,
    "--oauth2-bearer": value("data"),
    "--output-dir": value("data"),
    "--path-as-is": flag,
    "--proto": value("data"),
    "--proto-redir": value("data"),
    "-r, --range": value("data"),
    "--rate": value("data"),
    "--remote-name-all": flag,
    "--remove-on-error": flag,
    "--retry": value("number"),
    "--retry-all-errors": flag,
    "--retry-connrefused": flag,
    "--retry-delay": value("number"),
    "--retry-max-time": value("number"),
    "-s, --silent": flag,
    "-S, --show-error": flag,
    "--ssl-reqd": flag,
    "-T, --upload-file": value("data"),
    "--tcp-nodelay": flag,
    "--tlsv1.2": flag,
    "--tlsv1.3": flag,
    "-u, --user": value("data"),
    "--url-query": value("data"),
    "-v, --verbose": flag,
    "-w, --write-out": value("data"),
    "-X, --request": value("data"),
    "-Z, --parallel": flag,
  },
  operands: { rest: "data" },
  examine: examineTransfer,
});

/** Options that send a body, in which `@` and `<` name a file. */
const BODIES = ["-d", "--data-binary", "--data-urlencode", "--json", "-F"];
/** Options that send their argument. */
const TEXTS = [
  "--data-raw",
  "--form-string",
  "--oauth2-bearer",
  "--url-query",
  "-A",
  "-b",
  "-e",
  "-H",
  "-u",
  "-X",
];

function examineTransfer({ operands, options }: ParsedCall): readonly Effect[] | string {
  const effects: Effect[] = [];
  const valuesOf = (name: string): readonly Word[] => options.get(name) ?? [];
  for (const word of BODIES.flatMap(valuesOf)) {
    const file = fileInBody(word);
    if (file !== undefined) effects.push({ kind: "read", path: file });
  }
  for (const path of valuesOf("-T")) effects.push({ kind: "read", path });
  const sends =
    [...BODIES, "--data-raw", "--form-string", "-T"].some((name) => options.has(name)) ||
    valuesOf("-X").some(({ text }) => text !== "GET" && text !== "HEAD") ||
    // Text that is known only at run time may contain anything.
    TEXTS.flatMap(valuesOf).some(({ text }) => text === undefined);
  const problem = findFileReference(valuesOf);
  if (problem !== undefined) return problem;
  for (const target of operands) {
    if (!isLiteral(target) || !isHttpAddress(target.text))
      return `"${target.text ?? "…"}" is not a plain http address`;
    effects.push({ kind: "connect", target, sends });
  }
  const downloads = examineDownloads(operands, options);
  return typeof downloads === "string" ? downloads : [...effects, ...downloads];
}

/** `@file` in a body, `name=@file` and `name=<file` in a form. Text that is known only at run time may name any file. */
function fileInBody(word: Word): Word | undefined {
  if (word.text === undefined) return word;
  const [, path] = /^(?:[^=@<]*=?)[@<]([^;]+)/.exec(word.text) ?? [];
  return path === undefined || path === "-" ? undefined : literal(path);
}

/** Headers, cookies and formats may also name files: not understood. */
function findFileReference(valuesOf: (name: string) => readonly Word[]): string | undefined {
  if (valuesOf("-H").some(({ text }) => text?.startsWith("@") === true))
    return "a header is read from a file";
  // `name@file`, but not `name=a@b` or `+a@b`.
  if (valuesOf("--url-query").some(({ text }) => /^[^=+][^=]*@|^@/.test(text ?? "")))
    return "a part of the address is read from a file";
  if (valuesOf("-b").some(({ text }) => text === undefined || !text.includes("=")))
    return "cookies are read from a file";
  if (valuesOf("-w").some(({ text }) => text === undefined || /^@|%output|%\{stderr/.test(text)))
    return "the format names a file";
  // A form may name several files, quoted ones, and files with headers.
  if (valuesOf("-F").some(({ text }) => text === undefined || /^[^@<]*[@<][^,"]*[,"]|headers=/.test(text)))
    return "the form is not a plain field or file";
  return undefined;
}

function examineDownloads(
  addresses: readonly Word[],
  options: ParsedCall["options"],
): readonly Effect[] | string {
  const folders = options.get("--output-dir") ?? [];
  const outputs = options.get("-o") ?? [];
  const [folder] = folders;
  if (folder !== undefined && (!isLiteral(folder) || folders.length > 1))
    return "the folder is only known at run time";
  const writeTo = (name: string): Effect => ({
    kind: "write",
    path: literal(folder === undefined ? name : `${folder.text}/${name}`),
  });
  const effects = folder === undefined ? [] : outputs.map(({ text = "" }) => writeTo(text));
  if (options.has("-J")) return [...effects, action("unpack"), writeTo(".")];
  if (!options.has("-O") && !options.has("--remote-name-all")) return effects;
  const names = addresses.map(({ text = "" }) => nameOfDownload(text));
  if (!names.every((name) => name !== undefined)) return "the name of a download is not clear";
  return [...effects, ...names.map(writeTo)];
}
