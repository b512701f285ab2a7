import type { ApprovalSettings } from "../approval/approval-settings.ts";
import type { CodexTool } from "../tools/provider-tools.ts";
import type { SharedOptions } from "./options.ts";

/** What holds for the calls of one model unless `providerOptions.codex` says otherwise. */
export interface CallDefaults {
  readonly options: SharedOptions;
  readonly approvals: ApprovalSettings;
  readonly tools: Readonly<Record<string, CodexTool>>;
  readonly toolTimeoutMs: number | undefined;
  readonly fetch: typeof fetch | undefined;
  /** Receives each warning of a call. */
  readonly onWarning: ((message: string) => void) | undefined;
}
