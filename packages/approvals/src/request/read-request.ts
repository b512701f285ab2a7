import type {
  ApprovalRequest,
  CommandRequest,
  FileChange,
  FileSystemEntry,
  FileSystemPermissions,
  PermissionProfile,
} from "./request.ts";

/** A server request as it comes over the wire, with what the thread knows about the item it belongs to. */
export interface WireRequest {
  readonly method: string;
  readonly params: unknown;
  /**
   * The started item of the request's `itemId`: a `fileChange` item brings its changes, an `mcpToolCall` item its tool.
   * A request for a file change names no file by itself.
   */
  readonly item?: unknown;
  /** The thread's folder, for requests that don't name one. */
  readonly cwd?: string | undefined;
}

/** Reads a request of the app-server. What does not have the expected shape is `unknown`, which is always denied. */
export function readRequest(wire: WireRequest): ApprovalRequest {
  const params = record(wire.params);
  const unknown: ApprovalRequest = { kind: "unknown", method: wire.method };
  if (params === undefined) return unknown;
  const cwd = text(params["cwd"]) ?? wire.cwd;
  switch (wire.method) {
    case "item/commandExecution/requestApproval":
      return readCommand(params, cwd) ?? unknown;
    case "execCommandApproval": {
      const command = strings(params["command"]);
      return command === undefined || command.length === 0 ? unknown : { kind: "command", command, cwd };
    }
    case "item/fileChange/requestApproval":
      return {
        kind: "fileChange",
        changes: readChanges(record(wire.item)?.["changes"]),
        cwd,
        grantRoot: text(params["grantRoot"]),
      };
    case "applyPatchApproval":
      return {
        kind: "fileChange",
        changes: readLegacyChanges(params["fileChanges"]),
        cwd,
        grantRoot: text(params["grantRoot"]),
      };
    case "item/permissions/requestApproval": {
      const permissions = readProfile(params["permissions"]);
      return permissions === undefined ? unknown : { kind: "permissions", permissions, cwd };
    }
    case "mcpServer/elicitation/request":
      return readElicitation(params, record(wire.item)) ?? unknown;
    default:
      return unknown;
  }
}

function readCommand(params: Fields, cwd: string | undefined): CommandRequest | undefined {
  const kind = params["kind"] ?? "command";
  const network = record(params["networkApprovalContext"]);
  const host = text(network?.["host"]);
  const command = text(params["command"]) ?? (host === undefined ? undefined : "");
  const additional = params["additionalPermissions"] ?? undefined;
  const additionalPermissions = additional === undefined ? undefined : readProfile(additional);
  // A kind, a host or permissions that can't be read must not be taken for none.
  if (command === undefined || (kind !== "command" && kind !== "writeStdin")) return undefined;
  if (
    (network !== undefined && host === undefined) ||
    (additional !== undefined && additionalPermissions === undefined)
  )
    return undefined;
  return {
    kind: "command",
    command,
    cwd,
    stdin: kind === "writeStdin",
    ...(host === undefined ? {} : { network: { host, protocol: text(network?.["protocol"]) } }),
    ...(additionalPermissions === undefined ? {} : { additionalPermissions }),
  };
}

function readChanges(value: unknown): FileChange[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const changes: FileChange[] = [];
  for (const entry of value) {
    const change = record(entry);
    const path = text(change?.["path"]);
    const kind = record(change?.["kind"]);
    const type = kind?.["type"];
    if (path === undefined || (type !== "add" && type !== "delete" && type !== "update")) return undefined;
    changes.push({ path, kind: type, movePath: text(kind?.["move_path"]) });
  }
  return changes;
}

function readLegacyChanges(value: unknown): FileChange[] | undefined {
  const files = record(value);
  if (files === undefined) return undefined;
  const list = Object.entries(files).map(([path, change]) => {
    const { type, move_path } = record(change) ?? {};
    return { path, kind: { type, move_path } };
  });
  return readChanges(list);
}

function readElicitation(params: Fields, item: Fields | undefined): ApprovalRequest | undefined {
  const server = text(params["serverName"]);
  const mode = text(params["mode"]);
  if (server === undefined || mode === undefined) return undefined;
  const meta = record(params["_meta"]);
  if (meta?.["codex_approval_kind"] !== "mcp_tool_call") return { kind: "elicitation", server, mode };
  // Only the sentence names the tool when neither the item nor the metadata does; the quotes are Codex's own.
  const sentence = /\btool "([^"]+)"\?$/.exec(text(params["message"]) ?? "")?.[1];
  const named =
    item?.["type"] === "mcpToolCall" && item["server"] === server ? text(item["tool"]) : undefined;
  return { kind: "mcpTool", server, tool: named ?? text(meta["tool_name"]) ?? sentence };
}

function readProfile(value: unknown): PermissionProfile | undefined {
  const profile = record(value);
  if (profile === undefined) return undefined;
  const network = record(profile["network"]);
  const files = record(profile["fileSystem"]);
  const fileSystem = files === undefined ? undefined : readFileSystem(files);
  if (files !== undefined && fileSystem === undefined) return undefined;
  return {
    ...(network === undefined ? {} : { network: { enabled: network["enabled"] === true } }),
    ...(fileSystem === undefined ? {} : { fileSystem }),
  };
}

function readFileSystem(files: Fields): FileSystemPermissions | undefined {
  const { entries, globScanMaxDepth } = files;
  if (entries !== undefined && entries !== null && !(Array.isArray(entries) && entries.every(isEntry)))
    return undefined;
  return {
    read: strings(files["read"]) ?? null,
    write: strings(files["write"]) ?? null,
    ...(typeof globScanMaxDepth === "number" ? { globScanMaxDepth } : {}),
    ...(Array.isArray(entries) ? { entries: entries as FileSystemEntry[] } : {}),
  };
}

function isEntry(value: unknown): boolean {
  const entry = record(value);
  const path = record(entry?.["path"]);
  if (path === undefined || !["read", "write", "deny"].includes(String(entry?.["access"]))) return false;
  if (path["type"] === "path") return typeof path["path"] === "string";
  if (path["type"] === "glob_pattern") return typeof path["pattern"] === "string";
  return path["type"] === "special" && typeof record(path["value"])?.["kind"] === "string";
}

type Fields = Readonly<Record<string, unknown>>;

function record(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
}
