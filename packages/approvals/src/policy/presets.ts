import type { Decision } from "../finding.ts";
import { EFFECT_KINDS, type EffectKind } from "../programs/effect.ts";

/** The permission modes, from the strictest to the one that checks nothing. */
export type PresetName = "read-only" | "workspace-write" | "developer" | "danger-full-access" | "bypass";

export interface Preset {
  /** The decision where a policy does not name one. */
  readonly default: Decision;
  /** What is allowed; everything else is left to the default. */
  readonly allows: ReadonlySet<EffectKind>;
  readonly loopback: Decision | "default";
  readonly private: Decision | "default";
  /** Hosts that may be read from. */
  readonly hosts: readonly string[];
  readonly mcpTools: Decision | "default";
  /** Only `bypass` is without the safety rules. */
  readonly safety: boolean;
}

/** Where packages, sources and manuals come from. */
const DEVELOPER_HOSTS = [
  "**.npmjs.org",
  "registry.yarnpkg.com",
  "**.github.com",
  "**.githubusercontent.com",
  "**.gitlab.com",
  "bitbucket.org",
  "pypi.org",
  "files.pythonhosted.org",
  "crates.io",
  "static.crates.io",
  "index.crates.io",
  "docs.rs",
  "proxy.golang.org",
  "sum.golang.org",
  "pkg.go.dev",
  "go.dev",
  "rubygems.org",
  "repo.maven.apache.org",
  "repo1.maven.org",
  "plugins.gradle.org",
  "services.gradle.org",
  "packagist.org",
  "hex.pm",
  "nodejs.org",
  "deno.land",
  "jsr.io",
  "esm.sh",
  "unpkg.com",
  "cdn.jsdelivr.net",
  "developer.mozilla.org",
  "docs.python.org",
  "doc.rust-lang.org",
  "example.com",
];

export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  "read-only": {
    default: "deny",
    allows: new Set(["read"]),
    loopback: "default",
    private: "default",
    hosts: [],
    mcpTools: "default",
    safety: true,
  },
  "workspace-write": {
    default: "ask",
    allows: new Set(["read", "write", "commit"]),
    loopback: "default",
    private: "default",
    hosts: [],
    mcpTools: "default",
    safety: true,
  },
  developer: {
    default: "ask",
    allows: new Set(["read", "write", "run", "install", "commit", "sync", "process"]),
    loopback: "allow",
    private: "default",
    hosts: DEVELOPER_HOSTS,
    mcpTools: "default",
    safety: true,
  },
  "danger-full-access": {
    default: "allow",
    allows: new Set(EFFECT_KINDS.filter((kind) => kind !== "credentials")),
    loopback: "allow",
    private: "allow",
    hosts: ["*"],
    mcpTools: "allow",
    safety: true,
  },
  bypass: {
    default: "allow",
    allows: new Set(EFFECT_KINDS),
    loopback: "allow",
    private: "allow",
    hosts: ["*"],
    mcpTools: "allow",
    safety: false,
  },
};
