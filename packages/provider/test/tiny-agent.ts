import { fileURLToPath } from "node:url";
import type { AgentSpec } from "../src/index.ts";
import { AcpProvider, type AcpProviderOptions } from "../src/acp/index.ts";

const program = fileURLToPath(new URL("acp-agent.ts", import.meta.url));

/** The command line of the tiny agent. */
export function tinyAgent(fault?: string): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: [program, ...(fault === undefined ? [] : [fault])] };
}

/** A provider on the tiny agent. */
export function launchTiny(
  options: Partial<AcpProviderOptions> & { fault?: string } = {},
): Promise<AcpProvider> {
  const { fault, ...rest } = options;
  return AcpProvider.launch({ ...tinyAgent(fault), ...rest });
}

/** An MCP server with an echo tool. */
export const ECHO_SERVER: NonNullable<AgentSpec["mcpStdioServers"]> = [
  {
    name: "tests",
    command: process.execPath,
    args: [fileURLToPath(new URL("mcp-server.ts", import.meta.url))],
  },
];
