import { declareProgram, flag, information, value } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Word } from "./declaration/word.ts";

export const python = declareProgram({
  names: ["python", "python3", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14"],
  syntax: "posix",
  options: {
    "-B": flag,
    "-E": flag,
    "-I": flag,
    "-O": flag,
    "-P": flag,
    "-V, --version": information,
    "-W": value("data"),
    "-X": value("data"),
    "-c": value("code", { endsOptions: true, operands: { rest: "data" } }),
    "-h, --help": information,
    "-m": value("data", { endsOptions: true, operands: { rest: "data" } }),
    "-q": flag,
    "-s": flag,
    "-u": flag,
    "-v": flag,
  },
  operands: { first: ["script"], rest: "data" },
  examine: (call) => {
    const [module] = call.options.get("-m") ?? [];
    if (module !== undefined) return examineModule(module, call);
    if (call.options.has("-c")) return [];
    return call.operands.length === 0 ? [{ kind: "stdin-code", language: "other" }] : [];
  },
});

/**
 * `python -m venv DIR` writes to that folder, and `python -m pip` is pip. Every other module is code of the project or its
 * packages. A file in the current folder shadows any module, unless `-I` or `-P` excludes that folder from the search.
 */
function examineModule({ text }: Word, { operands, options }: ParsedCall): readonly Effect[] | string {
  if (text === undefined) return "a module is only known at run time";
  const shadowed = options.has("-I") || options.has("-P") ? [] : [action("project-code")];
  if (text === "pip") return [...shadowed, { kind: "command", words: [{ text: "pip" }, ...operands] }];
  if (text !== "venv") return [action("project-code")];
  const folders = operands.filter((word) => word.text?.startsWith("-") !== true);
  return [...shadowed, action("install"), ...folders.map((path): Effect => ({ kind: "write", path }))];
}
