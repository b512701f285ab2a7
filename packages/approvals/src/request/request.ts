/** A request to judge. A transport (the SDK, an ACP client) creates it from a received message. */
export type ApprovalRequest =
  | CommandRequest
  | FileChangeRequest
  | NetworkRequest
  | PermissionsRequest
  | McpToolRequest
  | ElicitationRequest
  | UnknownRequest;

export interface CommandRequest {
  readonly kind: "command";
  readonly command: string | readonly string[];
  readonly cwd?: string | undefined;
  /** Whether the text is input for a running process, whose effect is unknown. */
  readonly stdin?: boolean | undefined;
  /** Set if the question is whether this command may connect to this host. */
  readonly network?: NetworkTarget | undefined;
  readonly additionalPermissions?: PermissionProfile | undefined;
}

export interface FileChangeRequest {
  readonly kind: "fileChange";
  /** Undefined if the changes are not known. Then nothing can be allowed. */
  readonly changes: readonly FileChange[] | undefined;
  readonly cwd?: string | undefined;
  /** The agent asks to write below this folder for the rest of the session. */
  readonly grantRoot?: string | undefined;
}

export interface FileChange {
  readonly path: string;
  readonly kind: "add" | "delete" | "update";
  readonly movePath?: string | undefined;
}

export interface NetworkTarget {
  readonly host: string;
  readonly protocol?: string | undefined;
  readonly port?: number | undefined;
}

export interface NetworkRequest extends NetworkTarget {
  readonly kind: "network";
}

export interface PermissionsRequest {
  readonly kind: "permissions";
  readonly permissions: PermissionProfile;
  readonly cwd?: string | undefined;
}

export interface PermissionProfile {
  readonly network?: { readonly enabled: boolean | null } | null | undefined;
  readonly fileSystem?: FileSystemPermissions | null | undefined;
}

export interface FileSystemPermissions {
  readonly read: readonly string[] | null;
  readonly write: readonly string[] | null;
  readonly globScanMaxDepth?: number | undefined;
  readonly entries?: readonly FileSystemEntry[] | undefined;
}

export interface FileSystemEntry {
  readonly path:
    | { readonly type: "path"; readonly path: string }
    | { readonly type: "glob_pattern"; readonly pattern: string }
    | {
        readonly type: "special";
        readonly value: { readonly kind: string; readonly subpath?: string | null; readonly path?: string };
      };
  readonly access: "read" | "write" | "deny";
}

export interface McpToolRequest {
  readonly kind: "mcpTool";
  readonly server: string;
  readonly tool: string | undefined;
}

/** An MCP server asks the person a question, which a policy can't answer. */
export interface ElicitationRequest {
  readonly kind: "elicitation";
  readonly server: string;
  readonly mode: string;
}

export interface UnknownRequest {
  readonly kind: "unknown";
  readonly method: string;
}
