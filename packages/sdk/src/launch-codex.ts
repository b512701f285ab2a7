import "./require-node.ts";
import { checkCodexOptions, LAUNCH, type LaunchOptions } from "./codex-options.ts";
import type { Codex } from "./codex.ts";
import { launchEarly } from "./process/early-launch.ts";

/**
 * Does the same as `Codex.launch`, and loads the rest of the SDK while codex starts. For programs that are started for
 * one request, and for libraries that import the SDK only when it is needed.
 *
 * @example
 * import { launchCodex } from "codexkit/launch";
 * await using codex = await launchCodex({ cwd: process.cwd() });
 */
export async function launchCodex(options: LaunchOptions = {}): Promise<Codex> {
  checkCodexOptions("launchCodex", options, LAUNCH);
  const { processLimits, limits: _rpc, outliveOwner, ...rest } = options;
  // A server that outlives its owner is started by a keeper, which the SDK brings along.
  if (!outliveOwner) await launchEarly(options, { ...rest, limits: processLimits });
  const sdk = await import("./codex.ts");
  return sdk.Codex.launch(options);
}
