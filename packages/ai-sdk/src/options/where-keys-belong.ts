/** Settings of a provider or a model: functions, and what goes with them, can't be options of a call, which are JSON. */
const OF_MODELS = new Set(["policy", "handlers", "tools", "toolTimeoutMs", "parkedTurnMs"]);

const OF_PROVIDERS = new Set([
  "launch",
  "connect",
  "transport",
  "codex",
  "idleShutdownMs",
  "idleThreads",
  "idleThreadMs",
  "readyThreads",
  "logger",
  "onPacket",
  "fetch",
]);

const OF_CALLS = new Set(["threadId", "fork", "compact", "skills", "mentions"]);

/** Where a key that is unknown in one place can be set. */
export function whereKeyBelongs(key: string): string | undefined {
  if (OF_MODELS.has(key)) {
    return `"${key}" is a setting of a provider or a model: createCodex({ ${key} }) or codex(modelId, { ${key} }).`;
  }
  if (OF_PROVIDERS.has(key)) return `"${key}" is a setting of a provider: createCodex({ ${key} }).`;
  if (OF_CALLS.has(key)) return `"${key}" is an option of a call: providerOptions: { codex: { ${key} } }.`;
  return undefined;
}
