import { ACTIONS, type Action } from "../programs/declaration/effect.ts";
import { PACKAGE_HOSTS } from "../programs/package-hosts.ts";

/** The policy's decision about one request. */
export type Decision = "allow" | "deny" | "ask";

/** The permission modes, from the strictest to the one that checks nothing. */
export type PresetName = "read-only" | "workspace-write" | "developer" | "danger-full-access" | "bypass";

/** The effects that policies decide about (paths, hosts and declared actions), with the reasons of verdicts. */
export const EFFECTS = {
  read: "only reads",
  write: "writes in the workspace",
  ...ACTIONS,
  writeOutside: "writes outside the workspace",
  network: "uses the network",
} as const;

export type EffectKind = "read" | "write" | "writeOutside" | "network" | Action;

/** Ordered from the least consequences to the most. */
export const EFFECT_KINDS = Object.keys(EFFECTS) as readonly EffectKind[];

export interface Preset {
  readonly promise: string;
  /** The decision if the policy has no `default`, and about commands that are not understood. */
  readonly default: Decision;
  /** What is allowed; everything else is left to the default. */
  readonly allows: ReadonlySet<EffectKind>;
  readonly loopback?: Decision;
  readonly private?: Decision;
  readonly mcpTools?: Decision;
  /** Hosts that may be read from. */
  readonly hosts: readonly string[];
  /** Whether the built-in denials apply. */
  readonly safety: boolean;
}

const CAREFUL = { default: "ask", hosts: [], safety: true } as const;

const OPEN = {
  default: "allow",
  allows: new Set(EFFECT_KINDS),
  loopback: "allow",
  private: "allow",
  hosts: ["*"],
  mcpTools: "allow",
} as const;

const LOCAL: readonly EffectKind[] = [
  "read",
  "write",
  "project-code",
  "install",
  "unpack",
  "container",
  "process",
];
const REMOTE: readonly EffectKind[] = ["git-fetch", "git-local", "git-push", "remote-read"];

export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  "read-only": {
    ...CAREFUL,
    promise: "Nothing is written, nothing is sent, and only declared programs that read are run.",
    default: "deny",
    allows: new Set(["read"]),
  },
  "workspace-write": {
    ...CAREFUL,
    promise:
      "Files are written only below the roots of the workspace and its temporary folders, never protected files, and no project code runs.",
    allows: new Set(["read", "write"]),
  },
  developer: {
    ...CAREFUL,
    promise:
      "As workspace-write, and project code, git, installs, containers without host rights and reads from declared hosts run as well: such code can do everything that its sandbox allows.",
    allows: new Set([...LOCAL, ...REMOTE]),
    loopback: "allow",
    hosts: PACKAGE_HOSTS,
  },
  "danger-full-access": {
    ...OPEN,
    promise: "Everything runs, understood or not, unless a denial matches.",
    safety: true,
  },
  bypass: { ...OPEN, promise: "Nothing is checked.", safety: false },
};

export const PRESET_NAMES = Object.keys(PRESETS) as readonly PresetName[];
