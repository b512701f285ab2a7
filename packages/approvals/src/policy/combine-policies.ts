import { compilePolicy } from "./compile-policy.ts";
import { isInside, resolvePath } from "../files/path.ts";
import type { Policy, WorkspaceSettings } from "./policy.ts";
import { EFFECT_KINDS, PRESET_NAMES, PRESETS, type EffectKind, type Decision } from "./presets.ts";

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

/**
 * Combines layered policies into one. The `deny` and `ask` rules of all layers apply, in this order. The strictest preset,
 * default and settings about effects and hosts apply. Allow rules are taken only from the organisation and the person.
 */
export function combinePolicies({ organization, project, person }: PolicyLayers): CombinedPolicy {
  const layers = [organization, project, person].filter((layer) => layer !== undefined);
  const trusted = organization === undefined ? [person] : [organization, person];
  // A person can't add to the allow list of an organisation.
  const list = organization !== undefined && organization.allow.length > 0 ? organization : undefined;
  const preset = PRESET_NAMES.find((name) => layers.some((layer) => layer.preset === name)) ?? "read-only";
  const policy: Policy = {
    version: 1,
    preset,
    deny: layers.flatMap(({ deny }) => deny),
    ask: layers.flatMap(({ ask }) => ask),
    allow: (list ?? person).allow,
    additionalAllow: (list === undefined ? trusted : [list]).flatMap(
      ({ additionalAllow }) => additionalAllow,
    ),
    default: strictest([PRESETS[preset].default, ...layers.map((layer) => layer.default)]) ?? "deny",
    workspace: organization === undefined ? person.workspace : combineWorkspaces(organization, person),
    network: {
      allow: trusted.flatMap(({ network }) => network.allow),
      deny: layers.flatMap(({ network }) => network.deny),
      loopback: strictest(layers.map((layer) => rangeSetting("loopback", layer, layer === project))),
      private: strictest(layers.map((layer) => rangeSetting("private", layer, layer === project))),
    },
    effects: combineEffects(layers, person, organization),
    onDeny: layers.some(({ onDeny }) => onDeny === "cancel") ? "cancel" : "decline",
    ...(organization === undefined ? {} : { within: limitOf(organization, person) }),
  };
  compilePolicy(policy);
  const allows = (layer?: Policy): boolean =>
    layer !== undefined && layer.allow.length + layer.additionalAllow.length > 0;
  const isCut = (name: "roots" | "temp"): boolean =>
    organization !== undefined &&
    person.workspace[name].some((folder) => !policy.workspace[name].includes(folder));
  const loosened = EFFECT_KINDS.filter((kind) => project?.effects[kind] === "allow");
  const opened = RANGES.filter((range) => project?.network[range] === "allow");
  const ignored = [
    allows(project) && "The project's allow rules are ignored: a project can only tighten a policy.",
    (project?.network.allow ?? []).length > 0 && "The project's allowed hosts are ignored.",
    ...opened.map((range) => `The project's network.${range} = "allow" is ignored.`),
    ...loosened.map((kind) => `The project's effects.${kind} = "allow" is ignored.`),
    list !== undefined &&
      allows(person) &&
      "The person's allow rules are ignored: nothing can be added to the organisation's allow list.",
    isCut("roots") && "The person's workspace is limited to the organisation's.",
    isCut("temp") && "The person's temporary folders are limited to the organisation's.",
  ];
  return { policy, ignored: ignored.filter((sentence) => sentence !== false) };
}

/**
 * The organisation's policy as an upper limit for the person's allow rules. Rules about hosts and MCP tools extend it; rules
 * about commands and files can't go beyond its preset, effects and roots.
 */
function limitOf(organization: Policy, person: Policy): Policy {
  const { allow, additionalAllow, network } = organization;
  const own = [...person.allow, ...person.additionalAllow];
  const added = own.filter(({ kind }) => allow.length === 0 && (kind === "host" || kind === "mcp"));
  return {
    ...organization,
    within: undefined,
    additionalAllow: [...additionalAllow, ...added],
    network: { ...network, allow: [...network.allow, ...person.network.allow] },
  };
}

/** A person may choose only folders inside those of the organisation. */
function combineWorkspaces({ workspace: outer }: Policy, { workspace: own }: Policy): WorkspaceSettings {
  const common = intersect(outer.roots, own.roots);
  const home = outer.home ?? own.home;
  return {
    // Without any roots, the folder of each request would be one.
    roots: outer.roots.length === 0 ? own.roots : common.length === 0 ? outer.roots : common,
    temp: intersect(outer.temp, own.temp),
    ...(home === undefined ? {} : { home }),
  };
}

function intersect(one: readonly string[], other: readonly string[]): readonly string[] {
  const lies = (folders: readonly string[]) => (path: string) =>
    folders.some((folder) => isInside(resolvePath("/", folder), resolvePath("/", path)));
  return [...new Set([...one.filter(lies(other)), ...other.filter(lies(one))])];
}

const RANGES = ["loopback", "private"] as const;

/** A layer's setting for loopback or private addresses. A project's setting can only tighten. */
function rangeSetting(range: (typeof RANGES)[number], { network }: Policy, isProject: boolean) {
  return isProject && network[range] === "allow" ? undefined : network[range];
}

function strictest(decisions: readonly (Decision | undefined)[]): Decision | undefined {
  return (["deny", "ask", "allow"] as const).find((decision) => decisions.includes(decision));
}

/** Applies the settings of all layers that tighten. A person may loosen only within what the organisation allows. */
function combineEffects(layers: readonly Policy[], person: Policy, organization?: Policy): Policy["effects"] {
  const isOpen = (kind: EffectKind): boolean =>
    organization === undefined ||
    (organization.effects[kind] === undefined && PRESETS[organization.preset].allows.has(kind)) ||
    organization.effects[kind] === "allow";
  const effects: Partial<Record<EffectKind, Decision>> = {};
  for (const kind of EFFECT_KINDS) {
    const mayLoosen = (layer: Policy): boolean =>
      layer === organization || (layer === person && isOpen(kind));
    const held = layers.filter((layer) => layer.effects[kind] !== "allow" || mayLoosen(layer));
    const decision = strictest(held.map((layer) => layer.effects[kind]));
    if (decision !== undefined) effects[kind] = decision;
  }
  return effects;
}
