import { describe, expect, it } from "vitest";
import { decide, definePolicy, readRequest, type PolicyInput, type WireRequest } from "../index.ts";

const workspace = { roots: ["/w"], home: "/home/me" };

function answer(input: PolicyInput, wire: WireRequest) {
  return decide(definePolicy({ workspace, ...input }), wire).response;
}

/** The params of 0.166, as the app-server sends them. */
function command(line: string, more: object = {}): WireRequest {
  return {
    method: "item/commandExecution/requestApproval",
    params: {
      kind: "command",
      threadId: "t",
      turnId: "u",
      itemId: "i",
      startedAtMs: 1,
      environmentId: null,
      command: line,
      cwd: "/w",
      ...more,
    },
  };
}

describe("a command", () => {
  it("is accepted for the call, for the session, or for good", () => {
    const amendment = { proposedExecpolicyAmendment: ["deploytool", "plan"] };
    expect(answer({}, command("bash -lc 'npm test'"))).toEqual({ decision: "accept" });
    expect(answer({ alsoAllow: ["deploytool"] }, command("deploytool plan"))).toEqual({
      decision: "acceptForSession",
    });
    const always = [{ kind: "prefix", argv: ["deploytool"], lasting: "always" }] as const;
    expect(answer({ alsoAllow: always }, command("deploytool plan", amendment))).toEqual({
      decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["deploytool", "plan"] } },
    });
  });

  it("is not amended beyond what the rule allows", () => {
    const always = [{ kind: "prefix", argv: ["deploytool", "plan"], lasting: "always" }] as const;
    expect(
      answer(
        { alsoAllow: always },
        command("deploytool plan", { proposedExecpolicyAmendment: ["deploytool"] }),
      ),
    ).toEqual({ decision: "acceptForSession" });
  });

  it("is answered within the decisions that are offered", () => {
    const always = [{ kind: "prefix", argv: ["deploytool"], lasting: "always" }] as const;
    const offered = { proposedExecpolicyAmendment: ["deploytool"], availableDecisions: ["accept", "cancel"] };
    expect(answer({ alsoAllow: always }, command("deploytool", offered))).toEqual({ decision: "accept" });
    // Codex honours it all the same, and everything else would be more than a refusal.
    expect(answer({}, command("sudo id", offered))).toEqual({ decision: "decline" });
  });

  it("is declined, or the turn is cancelled, as the policy has it", () => {
    expect(answer({}, command("sudo id"))).toEqual({ decision: "decline" });
    expect(answer({ onDeny: "cancel" }, command("sudo id"))).toEqual({ decision: "cancel" });
  });

  it("that is asked about has no answer yet", () => {
    expect(answer({}, command("deploytool"))).toBeUndefined();
  });

  it("typed into a running process is never allowed by itself", () => {
    const { verdict } = decide(
      definePolicy({ preset: "danger-full-access", workspace }),
      command("ls", { kind: "writeStdin" }),
    );
    expect(verdict.rule).toBe("caution/stdin");
  });

  it("that wants a host is judged by the host, and the host is remembered if the policy names it", () => {
    const context = {
      networkApprovalContext: { host: "api.example.org", protocol: "https" },
      proposedNetworkPolicyAmendments: [
        { host: "api.example.org", action: "allow" },
        { host: "api.example.org", action: "deny" },
      ],
    };
    const wire = command("curl https://api.example.org", context);
    expect(answer({ network: { allow: ["api.example.org"] } }, wire)).toEqual({
      decision: {
        applyNetworkPolicyAmendment: {
          network_policy_amendment: { host: "api.example.org", action: "allow" },
        },
      },
    });
    expect(answer({ network: { deny: ["api.example.org"] } }, wire)).toEqual({ decision: "decline" });
    expect(answer({ deny: [{ kind: "host", host: "api.example.org", lasting: "always" }] }, wire)).toEqual({
      decision: {
        applyNetworkPolicyAmendment: {
          network_policy_amendment: { host: "api.example.org", action: "deny" },
        },
      },
    });
    expect(answer({ preset: "danger-full-access" }, command("sudo curl x", context))).toEqual({
      decision: "decline",
    });
  });

  it("that wants more permissions gets all of them or is not allowed", () => {
    const wants = (write: string[]) =>
      command("npm test", { additionalPermissions: { network: null, fileSystem: { read: null, write } } });
    expect(answer({ default: "deny" }, wants(["/w/out"]))).toEqual({ decision: "accept" });
    expect(answer({ default: "deny" }, wants(["/data/x"]))).toEqual({ decision: "decline" });
    expect(answer({ default: "deny" }, wants(["/w/out", "/data/x"]))).not.toEqual({ decision: "accept" });
  });

  it("in a shape that is not known is refused", () => {
    expect(readRequest(command("ls", { kind: "novel" })).kind).toBe("unknown");
    expect(readRequest(command("ls", { networkApprovalContext: {} })).kind).toBe("unknown");
    expect(answer({ preset: "bypass" }, command("ls", { command: 5 }))).toEqual({ decision: "decline" });
  });
});

describe("a file change", () => {
  const wire = (changes: unknown): WireRequest => ({
    method: "item/fileChange/requestApproval",
    params: { threadId: "t", turnId: "u", itemId: "i", startedAtMs: 1 },
    item: { type: "fileChange", id: "i", changes },
    cwd: "/w",
  });

  it("is joined with the changes of its item", () => {
    expect(
      answer({}, wire([{ path: "/w/a.ts", kind: { type: "update", move_path: null }, diff: "" }])),
    ).toEqual({ decision: "accept" });
    expect(
      answer(
        { default: "deny" },
        wire([{ path: "/w/a.ts", kind: { type: "update", move_path: "/data/a" }, diff: "" }]),
      ),
    ).toEqual({ decision: "decline" });
    expect(answer({ default: "deny" }, wire(undefined))).toEqual({ decision: "decline" });
    expect(answer({ default: "deny" }, wire([{ path: "/w/a", kind: { type: "novel" } }]))).toEqual({
      decision: "decline",
    });
  });
});

describe("permissions", () => {
  const wire: WireRequest = {
    method: "item/permissions/requestApproval",
    params: {
      cwd: "/w",
      permissions: { network: { enabled: true }, fileSystem: { read: null, write: ["/w/out", "/etc"] } },
    },
  };

  it("are answered with the allowed subset for the turn", () => {
    expect(answer({ default: "deny" }, wire)).toEqual({
      permissions: { fileSystem: { read: null, write: ["/w/out"] } },
      scope: "turn",
    });
    expect(answer({ preset: "read-only" }, wire)).toEqual({ permissions: {}, scope: "turn" });
  });
});

describe("an elicitation", () => {
  const wire = (
    meta: object | null,
    message = 'Allow the files MCP server to run tool "read"?',
  ): WireRequest => ({
    method: "mcpServer/elicitation/request",
    params: {
      threadId: "t",
      turnId: null,
      serverName: "files",
      mode: "form",
      message,
      requestedSchema: { type: "object", properties: {} },
      _meta: meta,
    },
  });
  const tool = { codex_approval_kind: "mcp_tool_call", persist: ["session", "always"] };

  it("that approves a tool is answered by server and tool, and persists only if the rule does", () => {
    expect(answer({ alsoAllow: [{ kind: "mcp", server: "files", tool: "read" }] }, wire(tool))).toEqual({
      action: "accept",
      content: {},
      _meta: null,
    });
    expect(
      answer({ alsoAllow: [{ kind: "mcp", server: "files", tool: "read", lasting: "session" }] }, wire(tool)),
    ).toEqual({ action: "accept", content: {}, _meta: { persist: "session" } });
    expect(answer({ default: "deny" }, wire(tool))).toEqual({
      action: "decline",
      content: null,
      _meta: null,
    });
  });

  it("takes the tool's name from the item rather than from a sentence", () => {
    const request = readRequest({
      ...wire({ codex_approval_kind: "mcp_tool_call" }),
      item: { type: "mcpToolCall", server: "files", tool: "write" },
    });
    expect(request).toEqual({ kind: "mcpTool", server: "files", tool: "write" });
  });

  it("that asks for anything else is never answered by a policy", () => {
    const { verdict, response } = decide(definePolicy({ preset: "danger-full-access" }), wire(null));
    expect([verdict.decision, response]).toEqual(["ask", undefined]);
    expect(answer({ default: "deny" }, wire(null))).toEqual({
      action: "decline",
      content: null,
      _meta: null,
    });
  });
});

describe("requests of the first protocol", () => {
  it("are answered in its words", () => {
    const exec = (argv: string[]): WireRequest => ({
      method: "execCommandApproval",
      params: { conversationId: "c", callId: "1", command: argv, cwd: "/w" },
    });
    expect(answer({}, exec(["bash", "-lc", "npm test"]))).toEqual({ decision: "approved" });
    expect(answer({}, exec(["sudo", "id"]))).toEqual({
      decision: { denied: { rejection: "sudo asks for more rights" } },
    });
    expect(answer({ onDeny: "cancel" }, exec(["sudo", "id"]))).toEqual({ decision: "abort" });
    expect(answer({ alsoAllow: ["deploytool"] }, exec(["deploytool"]))).toEqual({
      decision: "approved_for_session",
    });
    const patch: WireRequest = {
      method: "applyPatchApproval",
      params: { fileChanges: { "/w/a": { type: "add", content: "" } } },
      cwd: "/w",
    };
    expect(answer({}, patch)).toEqual({ decision: "approved" });
  });
});

describe("a method that nobody knows", () => {
  it("has no answer but a refusal", () => {
    const decided = decide(definePolicy({ preset: "bypass" }), {
      method: "item/novel/requestApproval",
      params: {},
    });
    expect([decided.verdict.decision, decided.response]).toEqual(["deny", undefined]);
  });
});
