import { attachedValue, declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal } from "./declaration/word.ts";
import { isLiteral } from "./declaration/path-words.ts";
import { isHttpAddress, nameOfDownload } from "./http-address.ts";

/** `-e` and `--config` change settings, `-i` reads addresses, `--post-data`, `--post-file` and `--method` send data, `--use-askpass` runs a program, and `-r`, `-p`, `-m` and `--content-disposition` choose file names: not declared. */
export const wget = declareProgram({
  names: ["wget"],
  options: {
    ...HELP,
    "-4, --inet4-only": flag,
    "-6, --inet6-only": flag,
    "-a, --append-output": value("write"),
    "-c, --continue": flag,
    "--ca-certificate": value("read"),
    "--connect-timeout": value("number"),
    "--content-on-error": flag,
    "-d, --debug": flag,
    "--header": value("data"),
    "--https-only": flag,
    "--limit-rate": value("number"),
    "--max-redirect": value("number"),
    "-n": attachedValue(["c", "d", "v"]),
    "-N, --timestamping": flag,
    "--no-cache": flag,
    "--no-check-certificate": flag,
    "--no-clobber": flag,
    "--no-cookies": flag,
    "--no-hsts": flag,
    "--no-proxy": flag,
    "--no-verbose": flag,
    "-o, --output-file": value("write"),
    "-O, --output-document": value("output"),
    "-P, --directory-prefix": value("data"),
    "--progress": value("data"),
    "-q, --quiet": flag,
    "--read-timeout": value("number"),
    "--retry-connrefused": flag,
    "-S, --server-response": flag,
    "--show-progress": flag,
    "--spider": flag,
    "-t, --tries": value("number"),
    "-T, --timeout": value("number"),
    "-U, --user-agent": value("data"),
    "-v, --verbose": flag,
    "-w, --wait": value("number"),
    "--waitretry": value("number"),
  },
  operands: { rest: "data" },
  examine: examineDownload,
});

function examineDownload({ operands, options }: ParsedCall): readonly Effect[] | string {
  const texts = [...(options.get("--header") ?? []), ...(options.get("-U") ?? [])];
  const sends = texts.some(({ text }) => text === undefined);
  const folders = options.get("-P") ?? [];
  const [folder] = folders;
  if (folder !== undefined && (!isLiteral(folder) || folders.length > 1))
    return "the folder is only known at run time";
  const writes = !options.has("--spider") && !options.has("-O");
  const effects: Effect[] = [];
  for (const target of operands) {
    if (!isLiteral(target) || !isHttpAddress(target.text))
      return `"${target.text ?? "…"}" is not a plain http address`;
    effects.push({ kind: "connect", target, sends });
    if (!writes) continue;
    const name = nameOfDownload(target.text);
    if (name === undefined) return "the name of a download is not clear";
    const file = name === "" ? "index.html" : name;
    effects.push({ kind: "write", path: literal(folder === undefined ? file : `${folder.text}/${file}`) });
  }
  return effects;
}
