/** How a command stands. Codex also says `"declined"`, which the old package does not type. */
type CommandExecutionStatus = "in_progress" | "completed" | "failed";

/** A command that the agent ran. */
export type CommandExecutionItem = {
  id: string;
  type: "command_execution";
  /** The command line. */
  command: string;
  /** What it printed so far, stdout and stderr as they came. */
  aggregated_output: string;
  /** Known once the command is over. */
  exit_code?: number;
  status: CommandExecutionStatus;
};

type PatchChangeKind = "add" | "delete" | "update";

type FileUpdateChange = {
  path: string;
  kind: PatchChangeKind;
};

/** How a patch ended. While it is applied Codex says `"in_progress"`, which the old package does not type. */
type PatchApplyStatus = "completed" | "failed";

/** A patch of the agent's: the files it touched, and whether it could be applied. */
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

/** What an MCP tool answers with, as the Model Context Protocol has it. */
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

/** A call of an MCP server's tool. */
export type McpToolCallItem = {
  id: string;
  type: "mcp_tool_call";
  server: string;
  tool: string;
  arguments: unknown;
  /** What the tool answered, when it did. */
  result?: {
    content: ContentBlock[];
    _meta?: unknown;
    structured_content: unknown;
  };
  /** Why the call failed, when it did. */
  error?: { message: string };
  status: McpToolCallStatus;
};

/** A message of the agent's: prose, or JSON when the turn has an output schema. */
export type AgentMessageItem = {
  id: string;
  type: "agent_message";
  text: string;
};

/** A summary of what the agent thought. */
export type ReasoningItem = {
  id: string;
  type: "reasoning";
  text: string;
};

/** A search of the web. */
export type WebSearchItem = {
  id: string;
  type: "web_search";
  query: string;
};

/** Something that went wrong, or is worth knowing, without ending the turn. */
export type ErrorItem = {
  id: string;
  type: "error";
  message: string;
};

type TodoItem = {
  text: string;
  completed: boolean;
};

/** The agent's plan: it starts with the first plan, is updated with every change, and completes with the turn. */
export type TodoListItem = {
  id: string;
  type: "todo_list";
  items: TodoItem[];
};

/** Everything that can happen in a turn. */
export type ThreadItem =
  | AgentMessageItem
  | ReasoningItem
  | CommandExecutionItem
  | FileChangeItem
  | McpToolCallItem
  | WebSearchItem
  | TodoListItem
  | ErrorItem;
