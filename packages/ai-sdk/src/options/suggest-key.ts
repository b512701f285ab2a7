import { findNearestName } from "codexkit/options";

/** Other providers' and Codex's own names for the same options. */
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

/** Finds the valid key that the caller probably meant. */
export function suggestKey(given: string, keys: readonly string[]): string | undefined {
  const known = Object.hasOwn(KNOWN_AS, given) ? KNOWN_AS[given] : undefined;
  if (known !== undefined && keys.includes(known.split(".")[0] ?? known)) return known;
  return findNearestName(given, keys);
}
