import type { Invocation } from "../shell/invocation.ts";
import { commandText, isUnknown } from "../shell/value.ts";
import type { CompiledRule } from "./compile-policy.ts";

/** `maybe`: something unknown in the command decides. */
export type Match = "yes" | "maybe" | "no";

/** Whether a deny rule speaks. In doubt `maybe`, which nobody allows. */
export function matchDeny(compiled: CompiledRule, invocation: Invocation): Match {
  const { rule } = compiled;
  switch (rule.kind) {
    case "prefix":
      return matchWords(rule.argv, invocation);
    case "exact":
      return rule.argv.length === invocation.argv.length ? matchWords(rule.argv, invocation) : "no";
    case "regex":
      return compiled.searches(commandText(invocation.argv)) ? "yes" : "no";
    default:
      return "no";
  }
}

function matchWords(words: readonly (string | readonly string[])[], { argv, name }: Invocation): Match {
  let match: Match = "yes";
  for (const [index, word] of words.entries()) {
    const value = argv[index];
    if (value === undefined) return "no";
    // An unquoted unknown may be any number of words: from here on everything is possible.
    if (isUnknown(value)) {
      match = "maybe";
      if (value.splits) return match;
      continue;
    }
    const choices = typeof word === "string" ? [word] : word;
    const fits = choices.includes(value.text) || (index === 0 && choices.includes(name));
    if (!fits) return "no";
  }
  return match;
}

/** Whether an allow rule speaks for this command. `exact` tells that it speaks for what can't be read in it, too. */
export function matchAllow(
  compiled: CompiledRule,
  invocation: Invocation,
): { readonly exact: boolean } | undefined {
  const { rule } = compiled;
  const { argv } = invocation;
  switch (rule.kind) {
    case "prefix": {
      if (argv.length < rule.argv.length || argv[0]?.plain !== true) return undefined;
      const fits = rule.argv.every((word, index) => {
        const value = argv[index];
        if (value === undefined || value.splits || value.glob || isUnknown(value)) return false;
        const text = index === 0 ? systemName(value.text) : value.text;
        return typeof word === "string"
          ? word === text || word === value.text
          : word.includes(text) || word.includes(value.text);
      });
      return fits ? { exact: false } : undefined;
    }
    case "exact":
      return argv.length === rule.argv.length &&
        argv.every((value, index) => value.text === rule.argv[index] && !value.glob && !isUnknown(value))
        ? { exact: true }
        : undefined;
    case "regex":
      return !argv.some((value) => isUnknown(value)) && compiled.matchesWhole(commandText(argv))
        ? { exact: false }
        : undefined;
    default:
      return undefined;
  }
}

/** `/usr/bin/git` is git; `./git` is not. */
function systemName(text: string): string {
  const match = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/.exec(text);
  return match?.[1] ?? text;
}
