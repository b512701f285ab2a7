import { z } from "zod";
import { nodeLabel, nodeName, plainText } from "./parameters.ts";
import { webhookTool } from "./webhook-tool.ts";

/** What the agent may do without asking, and what its commands can access. */
export const permissionMode = z.enum(["read-only", "workspace-write", "danger-full-access", "bypass"]).meta({
  id: "PermissionMode",
  description:
    "read-only: reads only. workspace-write: writes inside the roots. danger-full-access: no sandbox, but dangerous commands are denied. bypass: no sandbox and no approvals.",
});
export type PermissionMode = z.infer<typeof permissionMode>;

export const agentMode = z.enum(["build", "plan", "chat"]).meta({
  id: "AgentMode",
  description:
    "build: makes changes. plan: Codex's plan mode, in a read-only sandbox. chat: answers without changing anything, in a read-only sandbox.",
});
export type AgentMode = z.infer<typeof agentMode>;

export const approvalPolicy = z.enum(["never", "on-request", "untrusted"]).meta({ id: "ApprovalPolicy" });
export type ApprovalPolicy = z.infer<typeof approvalPolicy>;

/** Any string, because new models add new efforts. Codex rejects unknown ones. */
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
  .strictObject({
    url: z.url({ protocol: /^wss?$/ }),
    token: z.string().min(1).max(8192).optional(),
    // Exec-servers don't accept shorter secrets.
    secret: z.string().min(32).max(8192).optional().meta({
      description:
        "The shared secret of an exec-server with --ws-auth signed-bearer-token. Each owner signs tokens with its epoch, so that the exec-server disconnects former owners. Can't be combined with token.",
    }),
    issuer: z.string().min(1).max(256).optional().meta({ description: "The issuer of signed tokens." }),
    audience: z.string().min(1).max(256).optional().meta({ description: "The audience of signed tokens." }),
  })
  .refine(({ token, secret }) => token === undefined || secret === undefined, {
    error: "Pass either a token or a secret.",
    path: ["secret"],
  })
  .refine(({ secret, issuer, audience }) => secret !== undefined || (issuer ?? audience) === undefined, {
    error: "Only signed tokens have an issuer and an audience. Pass the secret, too.",
    path: ["secret"],
  })
  .meta({ id: "ExecutionEnvironment" });

export const budget = z
  .strictObject({
    totalTokens: z.int().positive().optional(),
    inputTokens: z.int().positive().optional(),
    outputTokens: z.int().positive().optional(),
  })
  .meta({
    id: "Budget",
    description: "Limits of the whole session. Exceeding a limit interrupts the running turn.",
  });

export const deadline = z.int().positive().meta({ description: "Milliseconds since the epoch." });

/** What the next owner does about a turn that was interrupted by the loss of its node. */
export const onInterrupted = z.enum(["continue", "ask", "stop"]).meta({
  id: "OnInterrupted",
  description:
    "What happens after the node of a running turn was lost. continue: a new turn continues the work and is informed about the interruption. ask: adds a question to the inbox. stop: waits for the next message. Default: stop.",
});
export type OnInterrupted = z.infer<typeof onInterrupted>;

/** Settings that can be changed later. */
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

/** Settings that are fixed when the session is created. They contain secrets and are never served unmasked. */
export const sessionSetup = z.strictObject({
  // Each server is a process. The session's app-server starts it for all sessions that share the app-server.
  mcpServers: z
    .record(z.string().regex(/^[\w-]{1,64}$/), mcpServer)
    .refine((servers) => Object.keys(servers).length <= MAX_MCP_SERVERS, {
      error: `A session can have at most ${MAX_MCP_SERVERS} MCP servers.`,
    })
    .meta({ maxProperties: MAX_MCP_SERVERS })
    .optional(),
  environment: executionEnvironment.optional(),
  /** Tools of the session, in addition to Codex's own. */
  tools: z.array(webhookTool).max(64).optional(),
  /** Whether the session has its own app-server. Default: it uses the shared one. */
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
      description:
        "Labels that a node must have to run the session, in addition to the label that its folder requires.",
    }),
    node: nodeName.optional().meta({
      description:
        "Name of the node that runs the session, permanently. Default: the node that receives the request; sessions with an execution environment or a shared root can move.",
    }),
  })
  .meta({
    id: "CreateSession",
    examples: [{ cwd: "/srv/projects/app", permissionMode: "workspace-write", effort: "high" }],
  });
export type CreateSession = z.infer<typeof createSession>;
