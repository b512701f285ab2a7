import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { environmentEffects, splitAssignment } from "./declaration/environment.ts";
import { isNotUnderstood } from "./declaration/parse-call.ts";

/** `-S` splits its argument into a command; `-i` and `-u` remove variables that the sandbox may have set: not declared. */
export const env = declareProgram({
  names: ["env"],
  syntax: "posix",
  options: {
    ...HELP,
    "-0, --null": flag,
    "-C, --chdir": value("cwd"),
    "-v, --debug": flag,
  },
  operands: { rest: "data" },
  examine: examineCommand,
});

function examineCommand({ operands }: ParsedCall): readonly Effect[] | string {
  const effects: Effect[] = [];
  for (const [index, word] of operands.entries()) {
    const assignment = splitAssignment(word);
    if (assignment === undefined) return [...effects, { kind: "command", words: operands.slice(index) }];
    const found = environmentEffects(...assignment);
    if (isNotUnderstood(found)) return found.problem;
    effects.push(...found);
  }
  return effects;
}
