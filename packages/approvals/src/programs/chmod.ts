import { declareProgram, flag, flagWith, HELP, type Operands, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import type { Word } from "./declaration/word.ts";
import { entriesBelow, isLiteral } from "./declaration/path-words.ts";

const FILES: Operands = { rest: "mode", atLeast: 1 };

/** Modes with set-user-ID or set-group-ID bits are not understood. */
export const chmod = declareProgram({
  names: ["chmod"],
  options: {
    ...HELP,
    "-c, --changes": flag,
    "-f, --silent, --quiet": flag,
    "--preserve-root": flag,
    "-r": flagWith({ operands: FILES }),
    "-R, --recursive": flag,
    "--reference": value("read", { operands: FILES }),
    "-v, --verbose": flag,
    "-w": flagWith({ operands: FILES }),
    "-x": flagWith({ operands: FILES }),
  },
  operands: { first: ["data"], rest: "mode", atLeast: 2 },
  examine: examineMode,
});

export const PLAIN_MODE =
  /^(?=.{1,64}$)(?:[01]?[0-7]{1,3}|[ugoa]*(?:[-+=][rwxX]*)+(?:,[ugoa]*(?:[-+=][rwxX]*)+)*)$/;

function examineMode({ operands, options }: ParsedCall): readonly Effect[] | string {
  const hasModeOption = ["-r", "-w", "-x", "--reference"].some((name) => options.has(name));
  const [mode] = operands;
  if (!hasModeOption && (!isLiteral(mode) || !PLAIN_MODE.test(mode.text)))
    return `"${mode?.text ?? "…"}" is not a plain mode`;
  const files = hasModeOption ? operands : operands.slice(1);
  return options.has("-R")
    ? files.flatMap(changedBelow).map((path) => ({ kind: "write", path, changesMode: true }))
    : [];
}

/** A plain folder in the project has no hidden folders whose modes matter; the project itself has some. */
function changedBelow(folder: Word): readonly Word[] {
  const entries = entriesBelow(folder);
  return /^[\w@][^~]*$/.test(folder.text ?? "") && !/(?:^|\/)\.\.(?:\/|$)/.test(folder.text ?? "")
    ? entries.slice(0, 1)
    : entries;
}
