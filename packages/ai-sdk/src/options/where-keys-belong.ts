/** Settings of a provider or a model. They can't be call options, which are JSON, because they are or belong to functions. */
const OF_MODELS = new Set(["policy", "handlers", "tools", "toolTimeoutMs", "suspendTimeoutMs"]);

const OF_PROVIDERS = new Set([
  "launch",
  "connect",
  "transport",
  "codex",
  "idleShutdownMs",
  "idleThreads",
  "idleThreadMs",
  "prestartedThreads",
  "logger",
  "onPacket",
  "fetch",
]);

const OF_CALLS = new Set(["threadId", "fork", "compact", "skills", "mentions"]);

/** Explains in which scope a key is valid, for a key that was used in another scope. */
export function whereKeyBelongs(key: string): string | undefined {
  if (OF_MODELS.has(key)) {
    return `"${key}" is a setting of a provider or a model: createCodex({ ${key} }) or codex(modelId, { ${key} }).`;
  }
  if (OF_PROVIDERS.has(key)) return `"${key}" is a setting of a provider: createCodex({ ${key} }).`;
  if (OF_CALLS.has(key)) return `"${key}" is an option of a call: providerOptions: { codex: { ${key} } }.`;
  return undefined;
}
