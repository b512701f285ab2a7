import type { Rule } from "../policy/rule.ts";

export interface Untranslated {
  readonly source: string;
  readonly reason: string;
}

/** Rules of another tool as a part of a policy: spread it into `definePolicy`. */
export interface ImportedRules {
  readonly policy: Readonly<Record<"deny" | "ask" | "additionalAllow", Rule[]>> & {
    readonly network: { readonly allow: string[]; readonly deny: string[] };
  };
  readonly untranslated: Untranslated[];
}

export function nothingImported(): ImportedRules {
  const network = { allow: [], deny: [] };
  return { policy: { deny: [], ask: [], additionalAllow: [], network }, untranslated: [] };
}
