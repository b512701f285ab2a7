// Any agent that speaks the Agent Client Protocol, as a provider.
import "../require-node.ts";
export { AcpProvider, type AcpProviderOptions } from "./acp-provider.ts";
export type { AcpHandle } from "./acp-handle.ts";
export type { AcpCommand } from "./process/start-process.ts";
export { ACP_LIMITS, type AcpLimits } from "./process/limits.ts";
export type { AcpAuthMethod } from "./process/auth-method.ts";
export type { AcpProviderConfig, AsksPermission } from "./plan/plan-session.ts";
