import { ACTIONS, type Action } from "../programs/declaration/effect.ts";
import type { Decision } from "../decision.ts";

/** The permission modes, from the strictest to the one that checks nothing. */
export type PresetName = "read-only" | "workspace-write" | "developer" | "danger-full-access" | "bypass";

/** What a policy decides about: paths, hosts, and the actions that programs declare. */
export const EFFECT_KINDS = ["read", "write", "writeOutside", "network", ...ACTIONS] as const;

export type EffectKind = "read" | "write" | "writeOutside" | "network" | Action;

export interface Preset {
  /** What the preset guarantees about the commands that it accepts, in one sentence. */
  readonly promise: string;
  /** The decision if the policy has no `default`, and about commands that are not understood. */
  readonly default: Decision;
  /** What is allowed; everything else is left to the default. */
  readonly allows: ReadonlySet<EffectKind>;
  readonly loopback: Decision | "default";
  readonly private: Decision | "default";
  /** Hosts that may be read from. */
  readonly hosts: readonly string[];
  readonly mcpTools: Decision | "default";
  /** Whether the built-in denials apply. False only for `bypass`. */
  readonly safety: boolean;
}

/** Where packages, sources and manuals come from. */
const DEVELOPER_HOSTS = [
  // Sources.
  "**.githubusercontent.com **.github.com **.gitlab.com bitbucket.org",
  // JavaScript.
  "**.npmjs.org cdn.jsdelivr.net deno.land developer.mozilla.org esm.sh jsr.io nodejs.org registry.yarnpkg.com unpkg.com",
  // Python, Ruby, PHP and Erlang.
  "docs.python.org files.pythonhosted.org hex.pm packagist.org pypi.org rubygems.org",
  // Go and Rust.
  "crates.io doc.rust-lang.org docs.rs go.dev index.crates.io pkg.go.dev proxy.golang.org static.crates.io sum.golang.org",
  // Java.
  "plugins.gradle.org repo.maven.apache.org repo1.maven.org services.gradle.org",
].flatMap((hosts) => hosts.split(" "));

export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  "read-only": {
    promise: "Nothing is written, nothing is sent, and no code runs but that of declared programs that read.",
    default: "deny",
    allows: new Set(["read"]),
    loopback: "default",
    private: "default",
    hosts: [],
    mcpTools: "default",
    safety: true,
  },
  "workspace-write": {
    promise:
      "Files are written only below the roots of the workspace and its temporary folders, never protected files, and no project code runs.",
    default: "ask",
    allows: new Set(["read", "write"]),
    loopback: "default",
    private: "default",
    hosts: [],
    mcpTools: "default",
    safety: true,
  },
  developer: {
    promise:
      "As workspace-write, and project code, git, installs, containers without host rights and reads from declared hosts run as well: such code can do whatever its sandbox lets it.",
    default: "ask",
    allows: new Set<EffectKind>([
      "container",
      "git-fetch",
      "git-local",
      "git-push",
      "install",
      "process",
      "project-code",
      "read",
      "remote-read",
      "unpack",
      "write",
    ]),
    loopback: "allow",
    private: "default",
    hosts: DEVELOPER_HOSTS,
    mcpTools: "default",
    safety: true,
  },
  "danger-full-access": {
    promise: "Everything runs, understood or not, unless a denial matches.",
    default: "allow",
    allows: new Set(EFFECT_KINDS),
    loopback: "allow",
    private: "allow",
    hosts: ["*"],
    mcpTools: "allow",
    safety: true,
  },
  bypass: {
    promise: "Nothing is checked.",
    default: "allow",
    allows: new Set(EFFECT_KINDS),
    loopback: "allow",
    private: "allow",
    hosts: ["*"],
    mcpTools: "allow",
    safety: false,
  },
};
