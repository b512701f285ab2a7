import type { CodexOptions, LaunchOptions } from "../codex.ts";
import type { ThreadHandlers } from "../thread/thread-options.ts";
import {
  CLIENT_INFO,
  HANDLERS,
  LIMITS,
  OUTLIVE_OWNER,
  PROCESS_LIMIT_NAMES,
  RECONCILE,
} from "./known-options.ts";
import { type OptionKeys, rejectUnknownOptions } from "./reject-unknown-options.ts";

/** Rejects misspelt options of `launch` and `connect`, also inside their objects. */
export function checkCodexOptions<
  Options extends CodexOptions & Pick<LaunchOptions, "outliveOwner" | "processLimits">,
>(what: string, options: Options, known: OptionKeys<Options>): void {
  rejectUnknownOptions(what, options, known);
  const { clientInfo, handlers, limits, outliveOwner, processLimits, reconcile } = options;
  if (outliveOwner) rejectUnknownOptions(`${what}: outliveOwner`, outliveOwner, OUTLIVE_OWNER);
  if (clientInfo) rejectUnknownOptions(`${what}: clientInfo`, clientInfo, CLIENT_INFO);
  if (handlers) rejectUnknownOptions(`${what}: handlers`, handlers, HANDLERS);
  if (limits) rejectUnknownOptions(`${what}: limits`, limits, LIMITS);
  if (processLimits) rejectUnknownOptions(`${what}: processLimits`, processLimits, PROCESS_LIMIT_NAMES);
  if (reconcile) rejectUnknownOptions(`${what}: reconcile`, reconcile, RECONCILE);
}

/** The same for `startThread`, `resumeThread` and `fork`. */
export function checkThreadOptions<Options extends ThreadHandlers>(
  what: string,
  options: Options,
  known: OptionKeys<Options>,
): void {
  rejectUnknownOptions(what, options, known);
  if (options.handlers) rejectUnknownOptions(`${what}: handlers`, options.handlers, HANDLERS);
}
