/** Status of a command. Codex also emits `"declined"`, which the original does not type. */
type CommandExecutionStatus = "in_progress" | "completed" | "failed";

/** A command that the agent ran. */
export type CommandExecutionItem = {
  id: string;
  type: "command_execution";
  /** The command line. */
  command: string;
  /** Its output so far, with stdout and stderr interleaved. */
  aggregated_output: string;
  /** Set when the command has ended. */
  exit_code?: number;
  status: CommandExecutionStatus;
};

type PatchChangeKind = "add" | "delete" | "update";

type FileUpdateChange = {
  path: string;
  kind: PatchChangeKind;
};

/** Status of a patch. While it is applied Codex emits `"in_progress"`, which the original does not type. */
type PatchApplyStatus = "completed" | "failed";

/** A patch by the agent: the changed files and whether it was applied. */
export type FileChangeItem = {
  id: string;
  type: "file_change";
  changes: FileUpdateChange[];
  status: PatchApplyStatus;
};

type McpToolCallStatus = "in_progress" | "completed" | "failed";

type Annotations = {
  audience?: ("user" | "assistant")[];
  priority?: number;
  lastModified?: string;
};

type Described = {
  annotations?: Annotations;
  _meta?: Record<string, unknown>;
};

/** The result of an MCP tool, as defined by the Model Context Protocol. */
type ContentBlock =
  | (Described & { type: "text"; text: string })
  | (Described & { type: "image" | "audio"; data: string; mimeType: string })
  | (Described & {
      type: "resource_link";
      uri: string;
      name: string;
      title?: string;
      description?: string;
      mimeType?: string;
      size?: number;
    })
  | (Described & {
      type: "resource";
      resource: {
        uri: string;
        mimeType?: string;
        _meta?: Record<string, unknown>;
      } & ({ text: string } | { blob: string });
    });

/** A call to an MCP tool. */
export type McpToolCallItem = {
  id: string;
  type: "mcp_tool_call";
  server: string;
  tool: string;
  arguments: unknown;
  /** The tool's result, if the call succeeded. */
  result?: {
    content: ContentBlock[];
    _meta?: unknown;
    structured_content: unknown;
  };
  /** The error, if the call failed. */
  error?: { message: string };
  status: McpToolCallStatus;
};

/** A message of the agent: prose, or JSON if the turn has an output schema. */
export type AgentMessageItem = {
  id: string;
  type: "agent_message";
  text: string;
};

/** A summary of the agent's reasoning. */
export type ReasoningItem = {
  id: string;
  type: "reasoning";
  text: string;
};

/** A web search. */
export type WebSearchItem = {
  id: string;
  type: "web_search";
  query: string;
};

/** An error or warning that does not end the turn. */
export type ErrorItem = {
  id: string;
  type: "error";
  message: string;
};

type TodoItem = {
  text: string;
  completed: boolean;
};

/** The agent's plan. It starts with the first plan, is updated with each change, and completes with the turn. */
export type TodoListItem = {
  id: string;
  type: "todo_list";
  items: TodoItem[];
};

/** All items of a turn. */
export type ThreadItem =
  | AgentMessageItem
  | ReasoningItem
  | CommandExecutionItem
  | FileChangeItem
  | McpToolCallItem
  | WebSearchItem
  | TodoListItem
  | ErrorItem;
