import { z } from "zod";
import { EFFECT_KINDS, PRESET_NAMES, type Decision, type EffectKind, type PresetName } from "./presets.ts";
import { ruleSchema, type Rule } from "./rule.ts";

const decision = z.enum(["allow", "deny", "ask"]);
const strings = z.array(z.string()).readonly();
const rules = z.array(z.union([z.string(), ruleSchema])).readonly();

/** Which folders may be written to, and how paths are resolved. */
const workspaceSchema = z.strictObject({
  /** Folders of the project. If empty, the working folder of each request. */
  roots: strings,
  /** Folders for temporary files, writable like the workspace. */
  temp: strings,
  /** The home folder, for `~`. Without it, `~` is an unknown folder outside the workspace. */
  home: z.string().optional(),
});

const networkSchema = z.strictObject({
  allow: strings,
  deny: strings,
  /** Decision about this machine (loopback). Default: that of the preset. */
  loopback: decision.optional(),
  /** Decision about private address ranges and names without a dot. Default: that of the preset. */
  private: decision.optional(),
});

/** Input of `definePolicy`. Strict: a field that is not understood may be one that forbids something. */
export const policySchema = z.strictObject({
  version: z.literal(1).optional(),
  preset: z.enum(PRESET_NAMES).optional(),
  /** Always denied. Applied after the built-in safety rules and before all other rules. */
  deny: rules.optional(),
  /** Requests that only a person may allow, unless they are denied anyway. Allow rules and presets can't override it. */
  ask: rules.optional(),
  /** If there is a rule for a kind of request, only requests of that kind that match one (or `additionalAllow`) are allowed. */
  allow: rules.optional(),
  /** Allowed in addition to the preset. "Always allow" adds its rules here. */
  additionalAllow: rules.optional(),
  /** The decision if no rule and no preset decides. With `deny`, no question is ever asked. */
  default: decision.optional(),
  /** One folder, several folders, or complete settings. */
  workspace: z.union([z.string(), strings, workspaceSchema.partial()]).optional(),
  network: networkSchema.partial().optional(),
  /** Decisions that replace those of the preset, by effect. */
  effects: z.partialRecord(z.enum(EFFECT_KINDS), decision).optional(),
  /** What a denial does to the turn. */
  onDeny: z.enum(["decline", "cancel"]).optional(),
  /** Upper limit for rules about commands and files. Set by `combinePolicies` to the organisation's policy. */
  get within() {
    return policySchema.optional();
  },
});

export type WorkspaceSettings = Readonly<z.infer<typeof workspaceSchema>>;
export type NetworkSettings = Readonly<z.infer<typeof networkSchema>>;
/** Input of `definePolicy`. Everything is optional. */
export type PolicyInput = Readonly<z.infer<typeof policySchema>>;

/**
 * Which requests are allowed without asking. Plain data that can be serialised as JSON; equal policies make equal decisions.
 * Created by `definePolicy`, or from JSON by `parsePolicy`.
 */
export interface Policy extends Readonly<Record<RuleList, readonly Rule[]>> {
  readonly version: 1;
  readonly preset: PresetName;
  readonly default: Decision;
  readonly workspace: WorkspaceSettings;
  readonly network: NetworkSettings;
  readonly effects: Readonly<Partial<Record<EffectKind, Decision>>>;
  readonly onDeny: "decline" | "cancel";
  readonly within?: Policy | undefined;
}

export type RuleList = "deny" | "ask" | "allow" | "additionalAllow";
