/** Options of `codexConfig`. */
export interface CodexConfigOptions {
  /** The model's name, which determines its kind: `gpt-6.1-sol` writes code; `gpt-5.5` and unknown names call tools. */
  readonly model?: string;
  /** Number of retries for requests and streams. Default: Codex's own. Use 0 to test failures. */
  readonly retries?: number;
  /** The provider's name inside the configuration. */
  readonly provider?: string;
}

/** Configuration that points Codex to a scripted model. */
export interface CodexConfig {
  /** `key=value` pairs, one per `-c`. */
  readonly overrides: readonly string[];
  /** Command-line arguments: `-c key=value …`. */
  readonly args: readonly string[];
  /** The text of `$CODEX_HOME/config.toml`. */
  readonly toml: string;
}

/** Creates the configuration for a model or its `url`. */
export function codexConfig(
  model: { readonly url: string } | string,
  options: CodexConfigOptions = {},
): CodexConfig {
  const { model: name, retries, provider = "scripted" } = options;
  const entries: (readonly [string, string | number | boolean])[] = [
    ...(name === undefined ? [] : ([["model", name]] as const)),
    ["model_provider", provider],
    [`model_providers.${provider}.name`, provider],
    [`model_providers.${provider}.base_url`, typeof model === "string" ? model : model.url],
    [`model_providers.${provider}.wire_api`, "responses"],
    [`model_providers.${provider}.requires_openai_auth`, false],
    [`model_providers.${provider}.supports_websockets`, false],
    ...(retries === undefined
      ? []
      : ([
          [`model_providers.${provider}.request_max_retries`, retries],
          [`model_providers.${provider}.stream_max_retries`, retries],
        ] as const)),
    // Each of these would access the network at startup.
    ["analytics.enabled", false],
    ["features.plugins", false],
    ["features.apps", false],
  ];
  // A JSON string of printable characters is also a TOML string. Dotted keys avoid tables.
  const overrides = entries.map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return { overrides, args: overrides.flatMap((pair) => ["-c", pair]), toml: `${overrides.join("\n")}\n` };
}

/**
 * Environment variables to remove when Codex runs on a scripted model: those that select another model or key, and proxies, which
 * Codex would also use for 127.0.0.1.
 */
export const variablesToRemove = [
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "OPENAI_ORGANIZATION",
  "OPENAI_PROJECT",
  "CODEX_API_KEY",
  "CODEX_ACCESS_TOKEN",
  "CODEX_EXEC_SERVER_URL",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
] as const;

/** Returns a copy of an environment without `variablesToRemove` (case-insensitive) and without any `OPENAI_*`. */
export function withoutModelVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const removed = new Set<string>(variablesToRemove);
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => {
      const upper = name.toUpperCase();
      return !removed.has(upper) && !upper.startsWith("OPENAI_");
    }),
  );
}
