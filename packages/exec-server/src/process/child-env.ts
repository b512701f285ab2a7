import type { EnvPolicy } from "../wire/process-params.ts";

type Env = Record<string, string>;

/** What `inherit: "core"` takes from the server's environment. */
const CORE = new Set("PATH SHELL TMPDIR TEMP TMP HOME LANG LC_ALL LC_CTYPE LOGNAME USER".split(" "));

const DEFAULT_EXCLUDES = ["*KEY*", "*SECRET*", "*TOKEN*"];

/** Secrets of the server itself: no child ever sees them. */
export const NEVER_PASSED: readonly string[] = [
  "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE",
  "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
  "NODE_REPL_AUTH_TOKEN",
  "OPENAI_FEDERATION_RULE_ID",
  "OPENAI_IDENTITY_TOKEN_FILE",
  "OPENAI_WORKLOAD_IDENTITY_CONTEXT",
];

/** The environment of a child. Without a policy it is exactly what the request says. */
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
  const excludes = [...(policy.ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...policy.exclude].map(
    asPattern,
  );
  for (const name of base.keys()) if (excludes.some((pattern) => pattern.test(name))) base.delete(name);
  for (const [name, value] of Object.entries(policy.set)) base.set(name, value);
  if (policy.includeOnly.length > 0) {
    const kept = policy.includeOnly.map(asPattern);
    for (const name of base.keys()) if (!kept.some((pattern) => pattern.test(name))) base.delete(name);
  }
  return Object.fromEntries(base);
}

/** A name with `*` and `?`, in any case. */
function asPattern(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "is");
}
