import {
  HarnessCapabilityUnsupportedError,
  type HarnessV1,
  type HarnessV1PermissionMode,
  type HarnessV1StartOptions,
} from "@ai-sdk/harness";
import { createCodex } from "../codex-provider/create-codex.ts";
import type { CodexLanguageModelOptions } from "../options/options.ts";
import type { CodexSettings } from "../options/settings.ts";
import { builtinTools } from "./builtin-tools.ts";
import { HarnessSession } from "./harness-session.ts";
import { HARNESS_ID, readState, stateSchema } from "./harness-state.ts";
import type { HarnessTurn } from "./harness-turn.ts";
import { harnessLimits } from "./limits.ts";

/** The provider's settings, and the default model for agents. */
export interface CodexHarnessSettings extends Omit<
  CodexSettings,
  "cwd" | "sandbox" | "approvalPolicy" | "persist"
> {
  readonly model?: string;
}

export interface CodexHarness extends HarnessV1<typeof builtinTools>, AsyncDisposable {
  /** Ends all turns. Also ends codex, unless it was passed in the settings. */
  close(): Promise<void>;
}

/**
 * Creates a harness for a `HarnessAgent` of `@ai-sdk/harness`. Experimental, like that package.
 * @example
 * await using harness = createCodexHarness();
 * const agent = new HarnessAgent({ harness, sandbox: localSandbox({ folder: "/tmp/agents" }), permissionMode: "allow-edits" });
 */
export function createCodexHarness({
  model: defaultModel,
  ...settings
}: CodexHarnessSettings = {}): CodexHarness {
  const codex = createCodex(settings);
  const suspended = new Map<string, HarnessTurn>();
  const keep = (sessionId: string, turn: HarnessTurn): void => {
    suspended.delete(sessionId);
    suspended.set(sessionId, turn);
    const [oldest] = suspended;
    if (oldest === undefined || suspended.size <= harnessLimits.suspendedTurns) return;
    oldest[1].interrupt();
    suspended.delete(oldest[0]);
  };
  const close = (): Promise<void> => codex.close();
  return {
    specificationVersion: "harness-v1",
    harnessId: HARNESS_ID,
    builtinTools,
    supportsBuiltinToolApprovals: true,
    lifecycleStateSchema: stateSchema,
    doStart: async (options) => {
      refuseUnsupported(options);
      const { sessionId, resumeFrom, continueFrom, sessionWorkDir: cwd, permissionMode } = options;
      const turn = continueFrom === undefined ? undefined : suspended.get(sessionId);
      suspended.delete(sessionId);
      return new HarnessSession({
        sessionId,
        isResume: resumeFrom !== undefined || continueFrom !== undefined,
        state: readState((continueFrom ?? resumeFrom)?.data),
        turn,
        model: (modelId = defaultModel) => codex(modelId),
        steer: (threadId, text) => codex.threads.steer(threadId, text),
        compact: (threadId) => codex.threads.compact(threadId),
        interrupt: (threadId) => codex.threads.interrupt(threadId),
        options: { cwd, persist: true, ...permissions(permissionMode) },
        onSuspend: (one) => keep(sessionId, one),
      });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Rejects what Codex can't guarantee. For example, it would still call a tool that should be hidden. */
function refuseUnsupported({ builtinToolFiltering, headers }: HarnessV1StartOptions): void {
  const feature =
    builtinToolFiltering !== undefined
      ? "activeTools and inactiveTools for its own tools"
      : headers && "headers";
  if (feature === undefined) return;
  throw new HarnessCapabilityUnsupportedError({ message: `Codex has no ${feature}.`, harnessId: HARNESS_ID });
}

/** Translates a permission mode. Anything that exceeds it needs an approval. */
function permissions(
  mode: HarnessV1PermissionMode = "allow-all",
): Pick<CodexLanguageModelOptions, "sandbox" | "approvalPolicy"> {
  switch (mode) {
    case "allow-reads":
      return { sandbox: "read-only", approvalPolicy: "on-request" };
    case "allow-edits":
      return { sandbox: "workspace-write", approvalPolicy: "on-request" };
    case "allow-all":
      return { sandbox: "danger-full-access", approvalPolicy: "never" };
  }
}
