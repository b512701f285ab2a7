/** Names that other providers and Codex itself use for the same thing. */
const KNOWN_AS: Readonly<Record<string, string>> = {
  sandboxMode: "sandbox",
  approvalMode: "approvalPolicy",
  developerInstructions: "instructions",
  system: "instructions",
  model_reasoning_effort: "effort",
  modelVerbosity: "textVerbosity",
  configOverrides: "config",
  resume: "threadId",
  thread: "threadId",
  threadMode: "persist",
  ephemeral: "persist",
  workingDirectory: "cwd",
  addDirs: "sandboxPolicy.writableRoots",
  codexPath: "launch.codexPath",
  env: "launch.env",
  minCodexVersion: "launch.minimumVersion",
  idleTimeoutMs: "idleShutdownMs",
  connectionTimeoutMs: "launch.handshakeTimeoutMs",
  onApproval: "handlers.approve",
  transport: "connect",
};

/** A key that may have been meant, if any is close enough to be worth a question. */
export function suggestKey(given: string, keys: readonly string[]): string | undefined {
  const known = Object.hasOwn(KNOWN_AS, given) ? KNOWN_AS[given] : undefined;
  if (known !== undefined && keys.includes(known.split(".")[0] ?? known)) return known;
  const nearest = keys
    .map((key) => ({ key, distance: editDistance(given.toLowerCase(), key.toLowerCase()) }))
    .toSorted((one, other) => one.distance - other.distance)[0];
  return nearest !== undefined && nearest.distance <= Math.max(2, Math.floor(given.length / 3))
    ? nearest.key
    : undefined;
}

/** Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [at, letter] of from.split("").entries()) {
    const next = [at + 1];
    for (let index = 0; index < to.length; index += 1) {
      const replaced = (row[index] ?? 0) + (letter === to[index] ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
