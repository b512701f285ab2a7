import type { Decision } from "../decision.ts";
import type { EffectKind, PresetName } from "./presets.ts";
import type { Rule, RuleInput } from "./rule.ts";

/** Where things may be written, and how paths are to be read. */
export interface WorkspaceSettings {
  /** Folders of the project. Empty: the working folder of each request. */
  readonly roots: readonly string[];
  /** Folders for temporary files, writable like the workspace. */
  readonly temp: readonly string[];
  /** What `~` means. Without it `~` is some home folder outside the workspace. */
  readonly home?: string | undefined;
}

export interface NetworkSettings {
  /** Host patterns that may be reached. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** This machine. Undefined: as the preset has it. */
  readonly loopback?: Decision | undefined;
  /** Private ranges and names without a dot. Undefined: as the preset has it. */
  readonly private?: Decision | undefined;
}

/**
 * What may happen without asking. A plain value: it survives JSON, and two equal policies decide alike. Made by
 * `definePolicy`, read back by `parsePolicy`.
 */
export interface Policy {
  readonly version: 1;
  readonly preset: PresetName;
  /** Always refused, after the built-in safety rules and before everything else. */
  readonly deny: readonly Rule[];
  /** Always asked about, unless denied: no rule that allows and no preset can skip the question. */
  readonly ask: readonly Rule[];
  /** If there is any for a kind of request, only what these (or `alsoAllow`) name is allowed of that kind. */
  readonly allow: readonly Rule[];
  /** Allowed besides what the preset allows. Where "always allow this" ends up. */
  readonly alsoAllow: readonly Rule[];
  /** The decision if no rule and no preset decides. With `deny`, no question is ever asked. */
  readonly default: Decision;
  readonly workspace: WorkspaceSettings;
  readonly network: NetworkSettings;
  /** Changes to the preset's table. */
  readonly effects: Readonly<Partial<Record<EffectKind, Decision>>>;
  /** What a refusal does to the turn. */
  readonly onDeny: "decline" | "cancel";
  /** A policy that rules about commands and files can't go beyond: the organisation's, in a combined policy. */
  readonly within?: Policy | undefined;
}

/** What `definePolicy` takes: everything is optional. */
export interface PolicyInput {
  readonly preset?: PresetName | undefined;
  readonly deny?: readonly RuleInput[] | undefined;
  readonly ask?: readonly RuleInput[] | undefined;
  readonly allow?: readonly RuleInput[] | undefined;
  readonly alsoAllow?: readonly RuleInput[] | undefined;
  readonly default?: Decision | undefined;
  /** A folder, or several, or everything there is to say. */
  readonly workspace?: string | readonly string[] | Partial<WorkspaceSettings> | undefined;
  readonly network?: Partial<NetworkSettings> | undefined;
  readonly effects?: Readonly<Partial<Record<EffectKind, Decision>>> | undefined;
  readonly onDeny?: "decline" | "cancel" | undefined;
  /** See `Policy`. Set by `combinePolicies`. */
  readonly within?: PolicyInput | undefined;
}
