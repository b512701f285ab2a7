import { attachedValue, declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal, type Word } from "./declaration/word.ts";

/** `-u` only prints a name: not declared, because later commands would use it. */
export const mktemp = declareProgram({
  names: ["mktemp"],
  options: {
    ...HELP,
    "-d, --directory": flag,
    "-p": value("data"),
    "-q, --quiet": flag,
    "--suffix": value("data"),
    "-t": flag,
    "--tmpdir": attachedValue("data"),
  },
  operands: { first: ["data"] },
  examine: examineTemplate,
});

function examineTemplate({ operands, options }: ParsedCall): readonly Effect[] | string {
  const template = operands[0];
  const folder = options.get("-p")?.at(-1) ?? options.get("--tmpdir")?.at(-1);
  if ((template !== undefined && !isLiteral(template)) || (folder !== undefined && !isLiteral(folder)))
    return "the folder or the template is only known at run time";
  const isInTemporaryFolder = template === undefined || options.has("-t") || options.has("--tmpdir");
  const parent = folder?.text ?? (isInTemporaryFolder ? "/tmp" : undefined);
  const name = template?.text ?? "tmp.XXXXXXXXXX";
  return [{ kind: "write", path: literal(parent === undefined ? name : `${parent}/${name}`) }];
}

function isLiteral({ text, isGlob }: Word): boolean {
  return text !== undefined && isGlob !== true;
}
