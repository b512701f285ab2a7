// Codex as a provider.
import "../require-node.ts";
export { CodexProvider, type CodexProviderOptions } from "./codex-provider.ts";
export { CODEX_CAPABILITIES } from "./codex-capabilities.ts";

// How a spec is translated to Codex's settings.
export { type PlanContext, planSpawn, type SpawnPlan } from "./plan/plan-spawn.ts";
export type { PermissionPlan } from "./plan/plan-permissions.ts";
export type { ToolKind } from "./plan/tool-rule.ts";
