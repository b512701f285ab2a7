import type { EnvPolicy } from "../wire/process-params.ts";

type Env = Record<string, string>;

/** Variables that `inherit: "core"` takes from the server's environment. */
const CORE = new Set("PATH SHELL TMPDIR TEMP TMP HOME LANG LC_ALL LC_CTYPE LOGNAME USER".split(" "));

const DEFAULT_EXCLUDES = ["*KEY*", "*SECRET*", "*TOKEN*"];

/** Secrets of the server. Never passed to a child. */
export const NEVER_PASSED: readonly string[] = [
  "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE",
  "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
  "NODE_REPL_AUTH_TOKEN",
  "OPENAI_FEDERATION_RULE_ID",
  "OPENAI_IDENTITY_TOKEN_FILE",
  "OPENAI_WORKLOAD_IDENTITY_CONTEXT",
];

/** The environment of a child. Without a policy, exactly the variables of the request. */
export function childEnv(
  overlay: Env,
  policy: EnvPolicy | null | undefined,
  serverEnv: NodeJS.ProcessEnv,
): Env {
  const env: Env = { ...(policy ? inherited(policy, serverEnv) : {}), ...overlay };
  for (const name of NEVER_PASSED) delete env[name];
  return env;
}

function inherited(policy: EnvPolicy, serverEnv: NodeJS.ProcessEnv): Env {
  const base = new Map<string, string>();
  for (const [name, value] of Object.entries(serverEnv)) {
    const taken = policy.inherit === "all" || (policy.inherit === "core" && CORE.has(name));
    if (taken && value !== undefined) base.set(name, value);
  }
  const excluded = matcher(excludesOf(policy));
  for (const name of base.keys()) if (excluded(name)) base.delete(name);
  for (const [name, value] of Object.entries(policy.set)) base.set(name, value);
  const included = matcher(policy.includeOnly);
  if (policy.includeOnly.length > 0) {
    for (const name of base.keys()) if (!included(name)) base.delete(name);
  }
  return Object.fromEntries(base);
}

/**
 * Whether a variable exported by a shell's profile may be passed to a child. Variables that the policy sets
 * take precedence.
 */
export function policyKeeps(name: string, policy: EnvPolicy | null | undefined): boolean {
  if (!policy) return true;
  if (Object.hasOwn(policy.set, name) || matcher(excludesOf(policy))(name)) return false;
  return policy.includeOnly.length === 0 || matcher(policy.includeOnly)(name);
}

function excludesOf({ ignoreDefaultExcludes, exclude }: EnvPolicy): readonly string[] {
  return [...(ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...exclude];
}

function matcher(globs: readonly string[]): (name: string) => boolean {
  const patterns = globs.map(asPattern);
  return (name) => patterns.some((pattern) => pattern.test(name));
}

/** Matches a name with `*` and `?`, case-insensitively. */
function asPattern(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "is");
}
