import type { CodexOptions, LaunchOptions } from "../codex.ts";
import { CodexError } from "../errors.ts";
import type { ThreadHandlers } from "../thread/thread-options.ts";
import {
  CLIENT_INFO,
  HANDLERS,
  LIMITS,
  OUTLIVE_OWNER,
  PROCESS_LIMIT_NAMES,
  RECONCILE,
} from "./known-options.ts";
import { checkLimits, checkSignal, type OptionKeys, rejectUnknownOptions } from "./reject-unknown-options.ts";

/** Rejects misspelt options of `launch` and `connect`, also inside their objects. */
export function checkCodexOptions<
  Options extends CodexOptions & Pick<LaunchOptions, "outliveOwner" | "processLimits">,
>(what: string, options: Options, known: OptionKeys<Options>): void {
  rejectUnknownOptions(what, options, known);
  const { clientInfo, handlers, limits, outliveOwner, processLimits, reconcile } = options;
  if (outliveOwner) rejectUnknownOptions(`${what}: outliveOwner`, outliveOwner, OUTLIVE_OWNER);
  if (clientInfo) rejectUnknownOptions(`${what}: clientInfo`, clientInfo, CLIENT_INFO);
  if (handlers) rejectUnknownOptions(`${what}: handlers`, handlers, HANDLERS);
  checkSignal(what, options.signal);
  if (limits) {
    rejectUnknownOptions(`${what}: limits`, limits, LIMITS);
    checkLimits(`${what}: limits`, limits);
  }
  if (processLimits) {
    rejectUnknownOptions(`${what}: processLimits`, processLimits, PROCESS_LIMIT_NAMES);
    checkLimits(`${what}: processLimits`, processLimits);
  }
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
  for (const [index, tool] of (options.tools ?? []).entries()) {
    if (isTool(tool)) continue;
    const message = `${what}: tools[${index}] is not a tool. Make it with defineTool or toolNamespace.`;
    throw new CodexError("invalid_argument", message);
  }
}

/** Whether this is what `defineTool` or `toolNamespace` gives. */
function isTool(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  if (value.type === "namespace")
    return "tools" in value && Array.isArray(value.tools) && value.tools.every(isTool);
  return value.type === "tool" && "invoke" in value && typeof value.invoke === "function";
}
