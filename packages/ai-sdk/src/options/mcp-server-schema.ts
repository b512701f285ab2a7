import type { z } from "zod";
import { keysOf } from "./nested-options.ts";
import type { McpServerOption } from "./options.ts";

type KeysOf<Union> = Union extends unknown ? keyof Union : never;

const KEYS: Readonly<Record<KeysOf<McpServerOption>, true>> = {
  command: true,
  args: true,
  env: true,
  envVars: true,
  cwd: true,
  url: true,
  headers: true,
  envHeaders: true,
  bearerTokenEnvVar: true,
  scopes: true,
  enabled: true,
  required: true,
  startupTimeoutMs: true,
  toolTimeoutMs: true,
  enabledTools: true,
  disabledTools: true,
  toolsApproval: true,
  parallelToolCalls: true,
};

/** Checks the keys of an MCP server. The SDK checks their values when a thread starts. */
export const mcpServer: z.ZodType<McpServerOption, McpServerOption> = keysOf(
  Object.keys(KEYS),
  ({ command, url }) => (command === undefined && url === undefined ? "needs a command or a url" : undefined),
);
