import { z } from "zod";
import { nodeLabel, nodeName, plainText } from "./parameters.ts";
import { webhookTool } from "./webhook-tool.ts";

/** What the agent may do without asking, and what its commands can reach. */
export const permissionMode = z.enum(["read-only", "workspace-write", "danger-full-access", "bypass"]).meta({
  id: "PermissionMode",
  description:
    "read-only: reads only. workspace-write: writes inside the roots. danger-full-access: no sandbox, dangerous commands are still denied. bypass: no sandbox, no approvals.",
});
export type PermissionMode = z.infer<typeof permissionMode>;

export const agentMode = z.enum(["build", "plan", "chat"]).meta({
  id: "AgentMode",
  description:
    "build: works. plan: Codex's plan mode, in a read-only sandbox. chat: answers without changing anything, in a read-only sandbox.",
});
export type AgentMode = z.infer<typeof agentMode>;

export const approvalPolicy = z.enum(["never", "on-request", "untrusted"]).meta({ id: "ApprovalPolicy" });
export type ApprovalPolicy = z.infer<typeof approvalPolicy>;

/** Open on purpose: new models bring new efforts. Codex rejects unknown ones. */
export const reasoningEffort = z.string().min(1).max(32).meta({ id: "ReasoningEffort" });

const environmentVariables = z.record(z.string().min(1).max(256), z.string().max(32_768));

export const mcpServer = z
  .union([
    z.strictObject({
      command: z.string().min(1).max(4096),
      args: z.array(z.string().max(32_768)).max(256).optional(),
      env: environmentVariables.optional(),
    }),
    z.strictObject({
      url: z.url({ protocol: /^https?$/ }),
      headers: environmentVariables.optional(),
      bearerTokenEnvVar: z.string().min(1).max(256).optional(),
    }),
  ])
  .meta({ id: "McpServer" });

/** An exec-server that runs the commands of a session. */
export const executionEnvironment = z
  .strictObject({ url: z.url({ protocol: /^wss?$/ }), token: z.string().min(1).max(8192).optional() })
  .meta({ id: "ExecutionEnvironment" });

export const budget = z
  .strictObject({
    totalTokens: z.int().positive().optional(),
    inputTokens: z.int().positive().optional(),
    outputTokens: z.int().positive().optional(),
  })
  .meta({
    id: "Budget",
    description: "Limits of the whole session. An overrun interrupts the running turn.",
  });

/** Milliseconds since the epoch. */
export const deadline = z.int().positive().meta({ description: "Milliseconds since the epoch." });

/** What the next owner does about a turn that ended with its node. */
export const onInterrupted = z.enum(["continue", "ask", "stop"]).meta({
  id: "OnInterrupted",
  description:
    "What happens after the node of a running turn was lost. continue: a new turn goes on, and is told what happened. ask: a question in the inbox. stop: nothing until the next message. Default: stop.",
});
export type OnInterrupted = z.infer<typeof onInterrupted>;

/** Everything about a session that can be changed later. */
export const sessionSettings = z
  .strictObject({
    model: z.string().min(1).max(256).optional(),
    effort: reasoningEffort.optional(),
    permissionMode,
    agentMode,
    approvalPolicy,
    budget: budget.optional(),
    deadline: deadline.optional(),
    onInterrupted: onInterrupted.optional(),
  })
  .meta({ id: "SessionSettings" });
export type SessionSettings = z.infer<typeof sessionSettings>;

const MAX_MCP_SERVERS = 64;

/** Everything about a session that is fixed when it is created. Holds secrets: never served as it is. */
export const sessionSetup = z.strictObject({
  // Each of them is a process, and the app-server of a session starts them for all sessions that share it.
  mcpServers: z
    .record(z.string().regex(/^[\w-]{1,64}$/), mcpServer)
    .refine((servers) => Object.keys(servers).length <= MAX_MCP_SERVERS, {
      error: `At most ${MAX_MCP_SERVERS} servers are possible.`,
    })
    .meta({ maxProperties: MAX_MCP_SERVERS })
    .optional(),
  environment: executionEnvironment.optional(),
  /** Tools of the session, besides Codex's own. */
  tools: z.array(webhookTool).max(64).optional(),
  /** Whether the session gets an app-server of its own. Default: the shared one. */
  dedicated: z.boolean().optional(),
});
export type SessionSetup = z.infer<typeof sessionSetup>;

export const createSession = z
  .strictObject({
    cwd: plainText(4096),
    name: plainText(256).optional(),
    ...sessionSettings.partial().shape,
    ...sessionSetup.shape,
    priority: z.int().min(-100).max(100).optional(),
    labels: z.array(nodeLabel).max(16).optional().meta({
      description: "Labels that a node must have to run it, besides the one that its folder needs.",
    }),
    node: nodeName.optional().meta({
      description:
        "Name of the node to create it on, where it stays. Default: the node that gets the request; sessions of an execution environment or a shared root may move.",
    }),
  })
  .meta({
    id: "CreateSession",
    examples: [{ cwd: "/srv/projects/app", permissionMode: "workspace-write", effort: "high" }],
  });
export type CreateSession = z.infer<typeof createSession>;
