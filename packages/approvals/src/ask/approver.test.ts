import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createApprover,
  definePolicy,
  remember,
  type Answer,
  type AskHandler,
  type AuditRecord,
  type Policy,
  type WireRequest,
} from "../index.ts";

const policy = definePolicy({ workspace: { roots: ["/w"], home: "/home/me" } });
const wire = (command: string, more: object = {}): WireRequest => ({
  method: "item/commandExecution/requestApproval",
  params: { kind: "command", command, cwd: "/w", ...more },
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("an approver", () => {
  it("asks nobody about what the policy decides, and records it", async () => {
    const ask = vi.fn<AskHandler>();
    const records: AuditRecord[] = [];
    const approve = createApprover({ policy, ask, onDecision: (record) => records.push(record) });
    expect((await approve(wire("npm test"))).response).toEqual({ decision: "accept" });
    expect((await approve(wire("sudo id"))).response).toEqual({ decision: "decline" });
    expect(ask).not.toHaveBeenCalled();
    expect(records.map(({ decision, decidedBy }) => [decision, decidedBy])).toEqual([
      ["allow", "policy"],
      ["deny", "policy"],
    ]);
  });

  it("says no when there is nobody to ask", async () => {
    const { response, record } = await createApprover({ policy })(wire("deploytool"));
    expect(response).toEqual({ decision: "decline" });
    expect(record.decidedBy).toBe("nobody");
  });

  it("says no when nobody answers in time, and tells the handler", async () => {
    let signal: AbortSignal | undefined;
    const approve = createApprover({
      policy,
      timeoutMs: 1000,
      ask: async (_question, given) => {
        signal = given;
        return new Promise<Answer>(() => {});
      },
    });
    const pending = approve(wire("deploytool"));
    await vi.advanceTimersByTimeAsync(999);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect((await pending).record.decidedBy).toBe("timeout");
    expect(signal?.aborted).toBe(true);
  });

  it("takes the first answer and withdraws the question from the others", async () => {
    const late = vi.fn<AskHandler>(
      async (_question, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
    );
    const approve = createApprover({
      policy,
      ask: [late, async () => ({ decision: "allow", by: "ann" }), async () => new Promise(() => {})],
    });
    const { response, record } = await approve(wire("deploytool"));
    expect(response).toEqual({ decision: "accept" });
    expect([record.decidedBy, record.by]).toEqual(["person", "ann"]);
    expect(late.mock.calls[0]?.[1].aborted).toBe(true);
  });

  it("passes over handlers that fail, have no answer, or answer nonsense", async () => {
    const fails: AskHandler = () => {
      throw new Error("broken");
    };
    const nonsense = (() => ({ decision: "yes" })) as unknown as AskHandler;
    expect(
      (await createApprover({ policy, ask: [fails, () => undefined, nonsense] })(wire("deploytool"))).record
        .decidedBy,
    ).toBe("nobody");
    expect(
      (await createApprover({ policy, ask: [fails, () => ({ decision: "allow" })] })(wire("deploytool")))
        .record.decision,
    ).toBe("allow");
  });

  it("ends when the question is withdrawn", async () => {
    const controller = new AbortController();
    const pending = createApprover({ policy, ask: async () => new Promise<Answer>(() => {}) })(
      wire("deploytool"),
      controller.signal,
    );
    controller.abort();
    expect((await pending).record.decidedBy).toBe("withdrawn");
  });

  it("can be told to cancel the turn", async () => {
    const approve = createApprover({
      policy,
      ask: () => ({ decision: "deny", cancel: true, reason: "not today" }),
    });
    const { response, record } = await approve(wire("deploytool"));
    expect([response, record.reason]).toEqual([{ decision: "cancel" }, "not today"]);
  });

  it("sees a policy that changes in the middle", async () => {
    let current: Policy = policy;
    const approve = createApprover({ policy: () => current });
    expect((await approve(wire("npm test"))).record.decision).toBe("allow");
    current = definePolicy({ deny: ["npm"] });
    expect((await approve(wire("npm test"))).record.decision).toBe("deny");
  });

  it("does not trust paths when the resolver fails", async () => {
    const approve = createApprover({
      policy,
      resolve: async () => Promise.reject(new Error("no disk")),
    });
    expect((await approve(wire("echo x > a.txt"))).record.decision).toBe("deny");
  });

  it("grants a person's yes to permissions, but not what nobody may grant", async () => {
    const approve = createApprover({ policy, ask: () => ({ decision: "allow", lasting: "session" }) });
    const { response } = await approve({
      method: "item/permissions/requestApproval",
      params: {
        cwd: "/w",
        permissions: { network: { enabled: true }, fileSystem: { read: null, write: ["/data/x", "/etc"] } },
      },
    });
    expect(response).toEqual({
      permissions: { network: { enabled: true }, fileSystem: { read: null, write: ["/data/x"] } },
      scope: "session",
    });
  });
});

describe("always allow this", () => {
  const always = createApprover({ policy, ask: () => ({ decision: "allow", lasting: "always" }) });

  it.for([
    ["npm publish --tag next", [{ kind: "prefix", argv: ["npm", "publish"] }]],
    ["bash -lc 'cd x && deploytool --fast'", [{ kind: "exact", argv: ["deploytool", "--fast"] }]],
    ["python3 -c 'print(1)'", [{ kind: "script", text: "python3 -c 'print(1)'" }]],
    ["deploytool 'a b'", [{ kind: "script", text: "deploytool 'a b'" }]],
  ] as const)("turns %s into a rule after which nobody is asked", async ([command, rules]) => {
    const { remember: stored } = await always(wire(command));
    expect(stored).toEqual(rules);
    const next = createApprover({ policy: remember(policy, stored) });
    expect((await next(wire(command))).record).toMatchObject({ decision: "allow", decidedBy: "policy" });
  });

  it("says so to Codex as well, when it offers to remember the same", async () => {
    const { response } = await always(
      wire("npm publish", { proposedExecpolicyAmendment: ["npm", "publish"] }),
    );
    expect(response).toEqual({
      decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["npm", "publish"] } },
    });
    const wider = await always(wire("npm publish", { proposedExecpolicyAmendment: ["npm"] }));
    expect(wider.response).toEqual({ decision: "acceptForSession" });
  });

  it("remembers hosts, tools and files as what they are", async () => {
    const network = await always(
      wire("curl x", { networkApprovalContext: { host: "api.example.org", protocol: "https" } }),
    );
    expect(network.remember).toEqual([{ kind: "host", host: "api.example.org", lasting: "always" }]);
    const meta = { codex_approval_kind: "mcp_tool_call", tool_name: "read", persist: "session" };
    const tool = await always({
      method: "mcpServer/elicitation/request",
      params: { serverName: "s", mode: "form", message: "", _meta: meta },
    });
    expect(tool.remember).toEqual([{ kind: "mcp", server: "s", tool: "read", lasting: "session" }]);
    expect(tool.response).toEqual({ action: "accept", content: {}, _meta: { persist: "session" } });
  });
});
