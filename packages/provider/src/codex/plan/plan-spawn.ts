import { join } from "node:path";
import type { JsonValue, RunOptions, StartThreadOptions, ThreadHandlers } from "codexkit";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import { planMcpServers } from "./plan-mcp-servers.ts";
import { type PermissionPlan, planPermissions } from "./plan-permissions.ts";
import { planSandbox } from "./plan-sandbox.ts";
import { planTools } from "./plan-tools.ts";
import { readProviderConfig } from "./read-provider-config.ts";

type JsonObject = { readonly [key: string]: JsonValue };

/** Everything that Codex receives for one session, as plain data. */
export interface SpawnPlan {
  /** For `thread/start` and `thread/resume`. */
  readonly thread: Omit<StartThreadOptions, keyof ThreadHandlers>;
  /** For `turn/start`. */
  readonly prompt: string;
  readonly turn: Pick<RunOptions, "effort" | "summary"> & {
    readonly outputSchema?: Record<string, JsonValue>;
  };
  /** Decides the requests of Codex. */
  readonly permissions: PermissionPlan;
  /** Limits that the provider enforces. */
  readonly budget: Pick<AgentSpec, "maxTurns" | "maxTokens" | "maxCostUsd" | "timeoutMs" | "openTimeoutMs">;
  /** Fields of the spec that are not honoured. */
  readonly ignored: readonly IgnoredField[];
}

export interface PlanContext {
  /** The folder with Codex's credentials. */
  readonly codexHome: string;
  /** Whether it has an `auth.json`, which is then hidden. Default: true. */
  readonly hasAuthFile?: boolean;
  /** Folders for temporary files that are writable in the sandbox. Default: `/tmp`. */
  readonly tempFolders?: readonly string[];
  /** Whether there is an `ask` handler. */
  readonly canAsk?: boolean;
  /** Whether the provider has prices. */
  readonly canPrice?: boolean;
}

/**
 * Translates a spec field by field. Pure: the same spec gives the same plan.
 * @throws {ProviderError} `invalid_spec` for an invalid pattern or setting.
 */
export function planSpawn(
  spec: AgentSpec,
  { codexHome, hasAuthFile = true, tempFolders = ["/tmp"], canAsk = false, canPrice = false }: PlanContext,
): SpawnPlan {
  const tools = planTools(spec);
  const { servers, ignored: ofServers } = planMcpServers(spec);
  const { settings, ignored: ofSettings } = readProviderConfig(spec.providerConfig);
  const { writableRoots } = settings;
  const hidden = hasAuthFile ? ["installation_id", "auth.json"] : ["installation_id"];
  const sandbox = planSandbox(
    spec,
    settings,
    hidden.map((name) => join(codexHome, name)),
  );
  const config = {
    ...settings.config,
    ...sandbox.config,
    ...(spec.env ? { shell_environment_policy: withVariables(settings.config, spec.env) } : {}),
    ...(tools.webSearch ? {} : { web_search: "disabled" }),
    ...(tools.agents ? {} : { features: { ...objectAt(settings.config, "features"), multi_agent: false } }),
  };
  return {
    thread: {
      cwd: spec.cwd,
      ...sandbox.thread,
      // The only policy under which Codex asks before every command and every patch.
      approvalPolicy: "untrusted",
      approvalsReviewer: "user",
      ...(spec.model === undefined ? {} : { model: spec.model }),
      ...(spec.baseInstructions === undefined ? {} : { baseInstructions: spec.baseInstructions }),
      ...(spec.systemPromptAppend === undefined ? {} : { developerInstructions: spec.systemPromptAppend }),
      ...(settings.modelProvider === undefined ? {} : { modelProvider: settings.modelProvider }),
      ...(settings.serviceTier === undefined ? {} : { serviceTier: settings.serviceTier }),
      ...(Object.keys(config).length > 0 ? { config } : {}),
      ...(Object.keys(servers).length > 0 ? { mcpServers: servers } : {}),
    },
    prompt: spec.prompt,
    turn: {
      ...(spec.effort === undefined ? {} : { effort: spec.effort }),
      ...(settings.summary === undefined ? {} : { summary: settings.summary }),
      ...(settings.outputSchema === undefined ? {} : { outputSchema: settings.outputSchema }),
    },
    permissions: planPermissions(spec, tools, {
      level: sandbox.level,
      writableRoots,
      tempFolders,
      canAsk: canAsk && spec.autonomous === false,
    }),
    budget: {
      maxTurns: spec.maxTurns,
      maxTokens: spec.maxTokens,
      ...(canPrice ? { maxCostUsd: spec.maxCostUsd } : {}),
      timeoutMs: spec.timeoutMs,
      openTimeoutMs: spec.openTimeoutMs,
    },
    ignored: [
      ...sandbox.ignored,
      ...tools.ignored,
      ...ofServers,
      ...ofSettings,
      ...withoutMeaning(spec, { canAsk, canPrice }),
    ],
  };
}

/** Fields that have no counterpart in Codex. */
function withoutMeaning(
  spec: AgentSpec,
  { canAsk, canPrice }: { readonly canAsk: boolean; readonly canPrice: boolean },
): IgnoredField[] {
  const ignored: IgnoredField[] = [];
  if (spec.maxCostUsd !== undefined && !canPrice) {
    const reason = "Codex reports no prices: pass `prices` to the provider";
    ignored.push({ field: "maxCostUsd", reason });
  }
  if (spec.autonomous === false && !canAsk) {
    const reason = "there is no `ask` handler: pass one to the provider";
    ignored.push({ field: "autonomous", reason });
  }
  if (spec.codeIntelligenceEnforcement?.enforceUsage) {
    const reason = "Codex can't withhold a tool until code intelligence was used";
    ignored.push({ field: "codeIntelligenceEnforcement", reason });
  }
  if (spec.subAgentProvider !== undefined && spec.subAgentProvider !== "codex") {
    ignored.push({ field: "subAgentProvider", reason: "subagents of a Codex session run on Codex too" });
  }
  return ignored;
}

function withVariables(config: JsonObject, env: Readonly<Record<string, string>>): JsonObject {
  const policy = objectAt(config, "shell_environment_policy");
  return { ...policy, set: { ...objectAt(policy, "set"), ...env } };
}

function objectAt(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
