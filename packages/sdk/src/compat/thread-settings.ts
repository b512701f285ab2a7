import type { JsonValue, v2 } from "@codexkit/protocol";
import { resolve } from "node:path";
import type { Codex } from "../codex.ts";
import type { StartThreadOptions } from "../thread/thread-options.ts";
import { configuredSandbox } from "./configured-sandbox.ts";
import type { ThreadOptions } from "./options.ts";

/** What Codex uses where no provider is configured. */
const DEFAULT_PROVIDER = "openai";

/** How a thread is set up, before the server's configuration is known. */
export interface ThreadSetup {
  readonly options: ThreadOptions;
  readonly cwd: string;
}

/** What a thread is started or resumed with: what `codex exec` makes of the same options. */
export async function threadSettings(
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
    approvalPolicy: policyOf(options, config),
    config: configOf(options),
    // Named, so that a resumed thread without a model gets the configured one, or the provider's default: the server would
    // otherwise keep the model of its last turn.
    modelProvider: config.model_provider ?? DEFAULT_PROVIDER,
    ...(model ? { model } : {}),
    ...(options.sandboxMode ? { sandbox: options.sandboxMode } : {}),
    ...(!options.sandboxMode && to === "resume" ? configuredSandbox(config, cwd) : {}),
    ...(roots ? { runtimeWorkspaceRoots: roots } : {}),
  };
}

/**
 * Nobody is there to be asked, so `codex exec` never lets Codex ask, whatever is configured: what would need an approval
 * is refused. Only a reviewer that is no person changes that.
 */
function policyOf(options: ThreadOptions, config: v2.Config): v2.AskForApproval {
  if (config.approvals_reviewer !== "auto_review") return "never";
  const wanted = options.approvalPolicy ?? config.approval_policy ?? "on-request";
  // The server no longer knows this word; its configuration takes it for the other one.
  return wanted === "on-failure" ? "on-request" : wanted;
}

function workspaceRoots({ options, cwd }: ThreadSetup, configured: readonly string[]): string[] | undefined {
  const { additionalDirectories = [] } = options;
  if (additionalDirectories.length === 0) return undefined;
  return [cwd, ...additionalDirectories.map((path) => resolve(cwd, path)), ...configured];
}

function configOf(options: ThreadOptions): Record<string, JsonValue> {
  const { approvalPolicy, modelReasoningEffort, networkAccessEnabled, webSearchMode, webSearchEnabled } =
    options;
  const enabled = webSearchEnabled === undefined ? undefined : webSearchEnabled ? "live" : "disabled";
  const webSearch = webSearchMode ?? enabled;
  return {
    // No policy makes Codex ask here, and it no longer knows this one. A value that is none is refused by the server.
    ...(approvalPolicy && approvalPolicy !== "untrusted" ? { approval_policy: approvalPolicy } : {}),
    ...(modelReasoningEffort ? { model_reasoning_effort: modelReasoningEffort } : {}),
    ...(networkAccessEnabled === undefined
      ? {}
      : { "sandbox_workspace_write.network_access": networkAccessEnabled }),
    ...(webSearch ? { web_search: webSearch } : {}),
  };
}
