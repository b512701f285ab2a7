import type { PolicyInput } from "../policy/policy.ts";
import { describeRule, type Rule } from "../policy/rule.ts";

export interface Untranslated {
  /** The rule or setting as it was written. */
  readonly source: string;
  readonly reason: string;
}

/** Rules of another tool as a part of a policy: spread it into `definePolicy`. */
export interface ImportedRules {
  readonly policy: Required<Pick<PolicyInput, "deny" | "ask" | "additionalAllow">> & {
    readonly network: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  };
  readonly untranslated: readonly Untranslated[];
}

export class ImportBuilder {
  readonly deny: Rule[] = [];
  readonly ask: Rule[] = [];
  readonly additionalAllow: Rule[] = [];
  readonly hosts: { readonly allow: string[]; readonly deny: string[] } = { allow: [], deny: [] };
  readonly untranslated: Untranslated[] = [];

  report(source: string, reason: string): void {
    this.untranslated.push({ source, reason });
  }

  /** Takes back everything that allows something. */
  dropPermissions(reason: string): void {
    for (const rule of this.additionalAllow.splice(0)) this.report(`allow: ${describeRule(rule)}`, reason);
    for (const host of this.hosts.allow.splice(0)) this.report(`allow: ${host}`, reason);
  }

  build(): ImportedRules {
    const { deny, ask, additionalAllow, hosts, untranslated } = this;
    return { policy: { deny, ask, additionalAllow, network: hosts }, untranslated };
  }
}
