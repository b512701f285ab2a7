import { isStricter, type Decision } from "../decision.ts";
import { compilePolicy } from "./compile-policy.ts";
import { isInside, resolvePath } from "../files/path.ts";
import type { Policy, WorkspaceSettings } from "./policy.ts";
import { EFFECT_KINDS, PRESETS, type EffectKind, type PresetName } from "./presets.ts";
import type { Rule } from "./rule.ts";

/** Policies of several authors. A missing layer has no effect. */
export interface PolicyLayers {
  /** The organisation's policy. Other layers can't loosen its `deny` rules, `ask` rules and preset. */
  readonly organization?: Policy | undefined;
  /** From a file of the project: untrusted input, which can only tighten. */
  readonly project?: Policy | undefined;
  /** The person's policy. It may allow what the organisation neither denies nor asks about. */
  readonly person: Policy;
}

export interface CombinedPolicy {
  readonly policy: Policy;
  /** Settings that had no effect, because their layer must not change them. One sentence each. */
  readonly ignored: readonly string[];
}

/** From the strictest. */
const ORDER: readonly PresetName[] = [
  "read-only",
  "workspace-write",
  "developer",
  "danger-full-access",
  "bypass",
];

/**
 * Combines layered policies into one. The `deny` and `ask` rules of all layers apply, in this order. The strictest preset,
 * default and settings about effects and hosts apply. Allow rules are taken only from the organisation and the person.
 */
export function combinePolicies({ organization, project, person }: PolicyLayers): CombinedPolicy {
  const ignored: string[] = [];
  const layers = [organization, project, person].filter((layer) => layer !== undefined);
  if (project !== undefined) reportLoosening(project, ignored);
  const trusted = organization === undefined ? [person] : [organization, person];
  const preset = strictestPreset(layers);
  const allow = exclusiveRules(organization, person, ignored);
  const policy: Policy = {
    version: 1,
    preset,
    deny: layers.flatMap(({ deny }) => deny),
    ask: layers.flatMap(({ ask }) => ask),
    allow,
    additionalAllow:
      organization !== undefined && organization.allow.length > 0
        ? organization.additionalAllow
        : trusted.flatMap(({ additionalAllow }) => additionalAllow),
    default: layers.map((layer) => layer.default).reduce(strictestOf, PRESETS[preset].default),
    workspace: combineWorkspaces(organization?.workspace, person.workspace, ignored),
    network: {
      allow: trusted.flatMap(({ network }) => network.allow),
      deny: layers.flatMap(({ network }) => network.deny),
      ...strictestSetting("loopback", layers),
      ...strictestSetting("private", layers),
    },
    effects: combineEffects(layers, person, organization),
    onDeny: layers.some(({ onDeny }) => onDeny === "cancel") ? "cancel" : "decline",
    ...(organization === undefined ? {} : { within: limitOf(organization, person) }),
  };
  compilePolicy(policy);
  return { policy, ignored };
}

/**
 * The organisation's policy as a limit for what the person's rules allow. Rules about hosts and tools of MCP servers add to
 * it; rules about commands and files can't go beyond its preset, its effects and its roots.
 */
function limitOf(organization: Policy, person: Policy): Policy {
  const { within: _, ...limit } = organization;
  const adds = ({ kind }: Rule): boolean => kind === "host" || kind === "mcp";
  const hasList = organization.allow.length > 0;
  return {
    ...limit,
    additionalAllow: hasList
      ? organization.additionalAllow
      : [...organization.additionalAllow, ...[...person.allow, ...person.additionalAllow].filter(adds)],
    network: {
      ...organization.network,
      allow: [...organization.network.allow, ...person.network.allow],
    },
  };
}

/** A person may choose folders inside those of the organisation, but no others. */
function combineWorkspaces(
  organization: WorkspaceSettings | undefined,
  person: WorkspaceSettings,
  ignored: string[],
): WorkspaceSettings {
  if (organization === undefined) return person;
  const home = organization.home ?? person.home;
  const common = intersect(organization.roots, person.roots);
  // Without any roots, the folder of each request would be one.
  const roots =
    organization.roots.length === 0 ? person.roots : common.length === 0 ? organization.roots : common;
  const temp = intersect(organization.temp, person.temp);
  if (organization.roots.length > 0 && person.roots.some((root) => !roots.includes(root)))
    ignored.push("The person's workspace is limited to the organisation's.");
  if (person.temp.some((root) => !temp.includes(root)))
    ignored.push("The person's folders for temporary files are limited to the organisation's.");
  return { roots, temp, ...(home === undefined ? {} : { home }) };
}

/** The folders of either list that lie in one of the other. */
function intersect(one: readonly string[], other: readonly string[]): readonly string[] {
  const lies = (folders: readonly string[]) => (path: string) =>
    folders.some((folder) => isInside(resolvePath("/", folder), resolvePath("/", path)));
  return [...new Set([...one.filter(lies(other)), ...other.filter(lies(one))])];
}

function reportLoosening({ allow, additionalAllow, network, effects }: Policy, ignored: string[]): void {
  if (allow.length + additionalAllow.length > 0)
    ignored.push(
      "The project's rules that allow something are ignored: a project can only tighten a policy.",
    );
  if (network.allow.length > 0) ignored.push("The project's allowed hosts are ignored.");
  for (const [kind, decision] of Object.entries(effects))
    if (decision === "allow") ignored.push(`The project's effects.${kind} = "allow" is ignored.`);
}

function strictestPreset(layers: readonly Policy[]): PresetName {
  const found = ORDER.find((preset) => layers.some((layer) => layer.preset === preset));
  return found ?? "read-only";
}

/** A person can't add to the allow list of an organisation. */
function exclusiveRules(
  organization: Policy | undefined,
  person: Policy,
  ignored: string[],
): readonly Rule[] {
  if (organization === undefined || organization.allow.length === 0) return person.allow;
  if (person.allow.length + person.additionalAllow.length > 0)
    ignored.push(
      "The person's rules that allow something are ignored: the organisation's allow list is complete.",
    );
  return organization.allow;
}

function strictestOf(one: Decision, other: Decision): Decision {
  return isStricter(other, one) ? other : one;
}

function strictestSetting(
  name: "loopback" | "private",
  layers: readonly Policy[],
): Partial<Record<"loopback" | "private", Decision>> {
  const set = layers.map(({ network }) => network[name]).filter((decision) => decision !== undefined);
  const [first, ...rest] = set;
  return first === undefined ? {} : { [name]: rest.reduce(strictestOf, first) };
}

/** Tightening settings of all layers hold. A person may loosen only within what the organisation allows. */
function combineEffects(
  layers: readonly Policy[],
  person: Policy,
  organization: Policy | undefined,
): Policy["effects"] {
  const mayLoosen = (kind: EffectKind): boolean =>
    organization === undefined ||
    organization.effects[kind] === "allow" ||
    (organization.effects[kind] === undefined && PRESETS[organization.preset].allows.has(kind));
  const effects: Partial<Record<EffectKind, Decision>> = {};
  for (const kind of EFFECT_KINDS) {
    const set = layers.flatMap((layer) => {
      const decision = layer.effects[kind];
      return decision === undefined ||
        (decision === "allow" && (layer === person ? !mayLoosen(kind) : layer !== organization))
        ? []
        : [decision];
    });
    const [first, ...rest] = set;
    if (first !== undefined) effects[kind] = rest.reduce(strictestOf, first);
  }
  return effects;
}
