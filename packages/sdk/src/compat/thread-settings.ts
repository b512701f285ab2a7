import type { JsonValue, v2 } from "@codexkit/protocol";
import { resolve } from "node:path";
import type { Codex } from "../codex.ts";
import type { StartThreadOptions } from "../thread/thread-options.ts";
import { getConfiguredSandbox } from "./configured-sandbox.ts";
import type { ThreadOptions } from "./options.ts";

/** Codex's default provider. */
const DEFAULT_PROVIDER = "openai";

/** Settings of a thread before the server's configuration is known. */
export interface ThreadSetup {
  readonly options: ThreadOptions;
  readonly cwd: string;
}

/** Converts options to the settings with which `codex exec` starts or resumes a thread. */
export async function toThreadSettings(
  codex: Codex,
  setup: ThreadSetup,
  to: "start" | "resume",
): Promise<StartThreadOptions> {
  const { options, cwd } = setup;
  const { config } = await codex.request("config/read", { cwd });
  const model = options.model ?? config.model;
  const roots = workspaceRoots(setup, config.sandbox_workspace_write?.writable_roots ?? []);
  return {
    cwd,
    approvalPolicy: toApprovalPolicy(options, config),
    config: toConfig(options),
    // Explicit, so that a resumed thread without a model gets the configured one or the provider's default. The server would
    // otherwise keep the model of the last turn.
    modelProvider: config.model_provider ?? DEFAULT_PROVIDER,
    ...(model ? { model } : {}),
    ...(options.sandboxMode ? { sandbox: options.sandboxMode } : {}),
    ...(!options.sandboxMode && to === "resume" ? getConfiguredSandbox(config, cwd) : {}),
    ...(roots ? { runtimeWorkspaceRoots: roots } : {}),
  };
}

/**
 * `codex exec` has no user to ask, so it always denies actions that need approval, regardless of the configuration. Only an
 * automatic reviewer changes that.
 */
function toApprovalPolicy(options: ThreadOptions, config: v2.Config): v2.AskForApproval {
  if (config.approvals_reviewer !== "auto_review") return "never";
  const wanted = options.approvalPolicy ?? config.approval_policy ?? "on-request";
  // The server no longer accepts "on-failure". In its configuration, it treats it as "on-request".
  return wanted === "on-failure" ? "on-request" : wanted;
}

function workspaceRoots({ options, cwd }: ThreadSetup, configured: readonly string[]): string[] | undefined {
  const { additionalDirectories = [] } = options;
  if (additionalDirectories.length === 0) return undefined;
  return [cwd, ...additionalDirectories.map((path) => resolve(cwd, path)), ...configured];
}

function toConfig(options: ThreadOptions): Record<string, JsonValue> {
  const { approvalPolicy, modelReasoningEffort, networkAccessEnabled, webSearchMode, webSearchEnabled } =
    options;
  const enabled = webSearchEnabled === undefined ? undefined : webSearchEnabled ? "live" : "disabled";
  const webSearch = webSearchMode ?? enabled;
  return {
    // Codex never asks here, and it no longer accepts "untrusted". The server rejects invalid values.
    ...(approvalPolicy && approvalPolicy !== "untrusted" ? { approval_policy: approvalPolicy } : {}),
    ...(modelReasoningEffort ? { model_reasoning_effort: modelReasoningEffort } : {}),
    ...(networkAccessEnabled === undefined
      ? {}
      : { "sandbox_workspace_write.network_access": networkAccessEnabled }),
    ...(webSearch ? { web_search: webSearch } : {}),
  };
}
