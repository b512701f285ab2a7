import type { ServerRequests, JsonValue, v2 } from "@codexkit/protocol";

const place = { threadId: "t1", turnId: "u1", itemId: "i1" };

/** The approval of an MCP tool, as codex 0.166 sends it. */
export const mcpToolApproval: v2.McpServerElicitationRequestParams = {
  threadId: "t1",
  turnId: "u1",
  serverName: "till",
  mode: "form",
  _meta: {
    codex_approval_kind: "mcp_tool_call",
    persist: ["session", "always"],
    tool_title: "Pay somebody",
    tool_description: "Sends money",
    tool_params: { amount: 3 },
  },
  message: 'Allow the till MCP server to run tool "pay"?',
  requestedSchema: { type: "object", properties: {} },
};

/** A tool call that waits for its approval. */
export function waitingCall(args: JsonValue, id = "call"): v2.ThreadItem {
  return {
    type: "mcpToolCall",
    id,
    server: "till",
    tool: "pay",
    status: "inProgress",
    arguments: args,
    result: null,
    error: null,
    durationMs: null,
  } as v2.ThreadItem;
}

/** One request of each method, as codex 0.166 sends it. */
export const sampleRequests: { readonly [M in keyof ServerRequests]: ServerRequests[M]["params"] } = {
  "item/commandExecution/requestApproval": {
    ...place,
    kind: "command",
    startedAtMs: 1,
    environmentId: "local",
    reason: "why not",
    command: "/bin/bash -lc 'npm test'",
    cwd: "/work",
    commandActions: [{ type: "unknown", command: "npm test" }],
    proposedExecpolicyAmendment: ["npm", "test"],
    availableDecisions: [
      "accept",
      { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["npm", "test"] } },
      "cancel",
    ],
  },
  "item/fileChange/requestApproval": { ...place, startedAtMs: 1, reason: null, grantRoot: null },
  "item/permissions/requestApproval": {
    ...place,
    startedAtMs: 1,
    environmentId: "local",
    cwd: "/work",
    reason: "needed",
    permissions: {
      network: { enabled: true },
      fileSystem: {
        read: null,
        write: ["/opt/x"],
        entries: [{ path: { type: "path", path: "/opt/x" }, access: "write" }],
      },
    },
  },
  "item/tool/requestUserInput": {
    ...place,
    isBlocking: true,
    autoResolutionMs: null,
    questions: [
      { id: "colour", header: "Colour", question: "Which?", isOther: true, isSecret: false, options: null },
      { id: "pin", header: "PIN", question: "Your PIN?", isOther: true, isSecret: true, options: null },
    ],
  },
  "mcpServer/elicitation/request": {
    threadId: "t1",
    turnId: "u1",
    serverName: "till",
    mode: "form",
    _meta: null,
    message: "What is your name?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  },
  "item/tool/call": {
    threadId: "t1",
    turnId: "u1",
    callId: "c1",
    namespace: null,
    tool: "add",
    arguments: {},
  },
  "account/chatgptAuthTokens/refresh": { reason: "unauthorized", previousAccountId: "a1" },
  "attestation/generate": {},
  "currentTime/read": { threadId: "t1" },
  applyPatchApproval: {
    conversationId: "t1",
    callId: "c1",
    fileChanges: {},
    reason: null,
    grantRoot: null,
  },
  execCommandApproval: {
    conversationId: "t1",
    callId: "c1",
    approvalId: null,
    command: ["ls"],
    cwd: "/work",
    reason: null,
    parsedCmd: [],
  },
};
