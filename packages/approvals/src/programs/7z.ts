import { attachedValue, declareProgram, flag } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { literal } from "./declaration/word.ts";
import { isLiteral } from "./declaration/path-words.ts";

/** Lists, tests, unpacks and adds. `@list` reads names from a file: not understood. */
export const sevenZip = declareProgram({
  names: ["7z"],
  options: {
    "-b": attachedValue("data"),
    "-i": attachedValue("pattern"),
    "-m": attachedValue("data"),
    "-o": attachedValue("write"),
    "-p": attachedValue("data"),
    "-r": flag,
    "-t": attachedValue("data"),
    "-x": attachedValue("pattern"),
    "-y": flag,
  },
  operands: { first: ["data", "data"], rest: "data", atLeast: 2 },
  examine: examineArchive,
});

function examineArchive({ operands, options }: ParsedCall): readonly Effect[] | string {
  const [command, archive, ...files] = operands;
  if (!isLiteral(archive) || operands.some(({ text }) => text === undefined || text.startsWith("@")))
    return "the archive or a file is only known at run time";
  if (command?.text === "l" || command?.text === "t") return [{ kind: "read", path: archive }];
  if (command?.text === "x" || command?.text === "e") {
    const folder: readonly Effect[] = options.has("-o") ? [] : [{ kind: "write", path: literal(".") }];
    return [{ kind: "read", path: archive }, action("unpack"), ...folder];
  }
  if (command?.text !== "a") return `the command "${command?.text ?? "…"}" is not declared`;
  return [{ kind: "write", path: archive }, ...files.map((path): Effect => ({ kind: "read", path }))];
}
