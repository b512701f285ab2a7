import "./require-node.ts";
import { checkCodexOptions, LAUNCH, type LaunchOptions } from "./codex-options.ts";
import type { Codex } from "./codex.ts";
import { launchEarly } from "./process/early-launch.ts";

/**
 * Does the same as `Codex.launch`, but loads the rest of the SDK while codex starts. For programs that handle a single
 * request, and for libraries that import the SDK lazily.
 *
 * @example
 * import { launchCodex } from "codexkit/launch";
 * await using codex = await launchCodex({ cwd: process.cwd() });
 */
export async function launchCodex(options: LaunchOptions = {}): Promise<Codex> {
  checkCodexOptions("launchCodex", options, LAUNCH);
  const { processLimits, limits: _rpc, outliveOwner, ...rest } = options;
  // A server that outlives its owner is started by a keeper, which is in the rest of the SDK.
  if (!outliveOwner) await launchEarly(options, { ...rest, limits: processLimits });
  const sdk = await import("./codex.ts");
  return sdk.Codex.launch(options);
}
