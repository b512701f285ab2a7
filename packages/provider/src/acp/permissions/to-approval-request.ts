import type { ApprovalRequest, FileChange } from "@codexkit/approvals";
import { commandFromTitle, type ToolCall } from "../events/tool-call.ts";

/** Converts a tool call to the request that a policy evaluates. Unreadable calls become `unknown` and are denied. */
export function toApprovalRequest(call: ToolCall, cwd: string): ApprovalRequest {
  const mcp = /^mcp__(?<server>.+?)__(?<tool>.+)$/.exec(call.name)?.groups;
  if (mcp) return { kind: "mcpTool", server: mcp["server"] ?? "", tool: mcp["tool"] };
  switch (call.kind) {
    case "execute":
      return { kind: "command", command: commandOf(call), cwd };
    case "edit":
    case "delete":
    case "move":
      return { kind: "fileChange", changes: changesOf(call), cwd };
    case "read":
    case "search":
      return {
        kind: "permissions",
        permissions: { fileSystem: { read: pathsOf(call, cwd), write: null } },
        cwd,
      };
    case "fetch": {
      const url = URL.parse(stringAt(call.input, "url") ?? "");
      return url
        ? { kind: "network", host: url.hostname, protocol: url.protocol.slice(0, -1) }
        : { kind: "unknown", method: `fetch without a url: ${call.title}` };
    }
    default:
      return { kind: "unknown", method: `${call.kind}: ${call.title || call.name}` };
  }
}

/** Agents send the command as a string or as an array. Without either, the title has it. */
function commandOf({ input, title }: ToolCall): string | readonly string[] {
  const command =
    input === null || typeof input !== "object" ? undefined : (input as { command?: unknown }).command;
  if (typeof command === "string") return command;
  if (Array.isArray(command) && command.every((word) => typeof word === "string")) return command;
  return commandFromTitle(title);
}

/** Every path in the call. Undefined if there is none. */
function changesOf(call: ToolCall): readonly FileChange[] | undefined {
  const kind = call.kind === "delete" ? "delete" : "update";
  const diffs = call.content.flatMap(({ path }) => (path === undefined ? [] : [path]));
  const named = ["path", "file_path", "filePath"].flatMap((key) => stringAt(call.input, key) ?? []);
  const paths = [...new Set([...diffs, ...call.paths, ...named])];
  return paths.length === 0 ? undefined : paths.map((path) => ({ path, kind }));
}

function pathsOf(call: ToolCall, cwd: string): readonly string[] {
  const paths = changesOf(call)?.map(({ path }) => path);
  return paths ?? [cwd];
}

function stringAt(input: unknown, key: string): string | undefined {
  const value = (input as Record<string, unknown> | null | undefined)?.[key];
  return typeof value === "string" ? value : undefined;
}
