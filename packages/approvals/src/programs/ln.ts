import { withoutEndSlashes } from "../files/path.ts";
import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal, type Word } from "./declaration/word.ts";
import { entryOf, isLiteral } from "./declaration/path-words.ts";

/** Backups and `-L`, which looks through links, are not declared. */
export const ln = declareProgram({
  names: ["ln"],
  options: {
    ...HELP,
    "-f, --force": flag,
    "-i, --interactive": flag,
    "-n, --no-dereference": flag,
    "-P, --physical": flag,
    "-r, --relative": flag,
    "-s, --symbolic": flag,
    "-t, --target-directory": value("data"),
    "-T, --no-target-directory": flag,
    "-v, --verbose": flag,
  },
  operands: { rest: "data", atLeast: 1 },
  examine: examineLinks,
});

function examineLinks({ operands, options }: ParsedCall): readonly Effect[] | string {
  const folders = options.get("-t") ?? [];
  if (![...operands, ...folders].every(isLiteral)) return "the link is only known at run time";
  const folder = folders.at(-1);
  const targets = folder === undefined && operands.length > 1 ? operands.slice(0, -1) : operands;
  const destination = folder ?? (operands.length > 1 ? operands.at(-1) : undefined) ?? literal(".");
  // The last operand is the link itself, or the folder that it is created in.
  const mayBeLink = folder === undefined && operands.length === 2;
  const isSymbolic = options.has("-s") && !options.has("-r");
  const effects: Effect[] = [];
  for (const target of targets) {
    const entry = entryOf(destination, target);
    const paths = [mayBeLink ? destination : undefined, options.has("-T") ? undefined : entry];
    for (const path of paths) {
      if (path !== undefined)
        effects.push({ kind: "link", path, target: isSymbolic ? fromLink(path, target) : target });
    }
  }
  return effects.length === 0 ? "the name of the link is not clear" : effects;
}

/** The target of a symbolic link is relative to the folder of the link. */
function fromLink(path: Word, target: Word): Word {
  const { text = "" } = target;
  const slash = withoutEndSlashes(path.text ?? "").lastIndexOf("/");
  if (text.startsWith("/") || slash === -1) return target;
  return literal(`${path.text?.slice(0, slash)}/${text}`);
}
