import type { Decision, EffectKind, PresetName } from "./presets.ts";
import type { Rule, RuleInput } from "./rule.ts";

/** Which folders may be written to, and how paths are resolved. */
export interface WorkspaceSettings {
  /** Folders of the project. If empty, the working folder of each request. */
  readonly roots: readonly string[];
  /** Folders for temporary files, writable like the workspace. */
  readonly temp: readonly string[];
  /** The home folder, for `~`. Without it, `~` is an unknown folder outside the workspace. */
  readonly home?: string | undefined;
}

export interface NetworkSettings {
  /** Host patterns that may be reached. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Decision about this machine (loopback). Default: that of the preset. */
  readonly loopback?: Decision | undefined;
  /** Decision about private address ranges and names without a dot. Default: that of the preset. */
  readonly private?: Decision | undefined;
}

/**
 * Which requests are allowed without asking. Plain data that can be serialised as JSON; equal policies make equal decisions.
 * Created by `definePolicy`, or from JSON by `parsePolicy`.
 */
export interface Policy {
  readonly version: 1;
  readonly preset: PresetName;
  /** Always denied. Applied after the built-in safety rules and before all other rules. */
  readonly deny: readonly Rule[];
  /** Always asked about, unless denied. Allow rules and presets can't override it. */
  readonly ask: readonly Rule[];
  /** If there is a rule for a kind of request, only requests of that kind that match one (or `additionalAllow`) are allowed. */
  readonly allow: readonly Rule[];
  /** Allowed in addition to what the preset allows. "Always allow" adds its rules here. */
  readonly additionalAllow: readonly Rule[];
  /** The decision if no rule and no preset decides. With `deny`, no question is ever asked. */
  readonly default: Decision;
  readonly workspace: WorkspaceSettings;
  readonly network: NetworkSettings;
  /** Decisions that replace those of the preset, by effect. */
  readonly effects: Readonly<Partial<Record<EffectKind, Decision>>>;
  /** What a denial does to the turn. */
  readonly onDeny: "decline" | "cancel";
  /** Upper limit for rules about commands and files. In a combined policy, the organisation's policy. */
  readonly within?: Policy | undefined;
}

/** Input of `definePolicy`. Everything is optional. */
export interface PolicyInput {
  readonly preset?: PresetName | undefined;
  readonly deny?: readonly RuleInput[] | undefined;
  readonly ask?: readonly RuleInput[] | undefined;
  readonly allow?: readonly RuleInput[] | undefined;
  readonly additionalAllow?: readonly RuleInput[] | undefined;
  readonly default?: Decision | undefined;
  /** One folder, several folders, or complete settings. */
  readonly workspace?: string | readonly string[] | Partial<WorkspaceSettings> | undefined;
  readonly network?: Partial<NetworkSettings> | undefined;
  readonly effects?: Readonly<Partial<Record<EffectKind, Decision>>> | undefined;
  readonly onDeny?: "decline" | "cancel" | undefined;
  /** See `Policy`. Set by `combinePolicies`. */
  readonly within?: PolicyInput | undefined;
}
