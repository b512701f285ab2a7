import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createApprover,
  definePolicy,
  describeRule,
  remember,
  type Answer,
  type AskHandler,
  type AuditRecord,
  type Policy,
  type CommandRequest,
} from "../index.ts";

const policy = definePolicy({ workspace: { roots: ["/w"], home: "/home/me" } });
const command = (text: string): CommandRequest => ({ kind: "command", command: text, cwd: "/w" });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("an approver", () => {
  it("asks no handler if the policy decides, and records the decision", async () => {
    const ask = vi.fn<AskHandler>();
    const records: AuditRecord[] = [];
    const approve = createApprover({ policy, ask, onDecision: (record) => records.push(record) });
    expect((await approve(command("ls -la"))).outcome).toMatchObject({ decision: "allow", scope: "call" });
    expect((await approve(command("sudo id"))).outcome).toMatchObject({ decision: "deny", cancel: false });
    expect(ask).not.toHaveBeenCalled();
    expect(records.map(({ decision, decidedBy }) => [decision, decidedBy])).toEqual([
      ["allow", "policy"],
      ["deny", "policy"],
    ]);
  });

  it("denies if there is no handler", async () => {
    const { outcome, record } = await createApprover({ policy })(command("deploytool"));
    expect(outcome.decision).toBe("deny");
    expect(record.decidedBy).toBe("no-handler");
  });

  it("denies if the policy can't be read, or the decision can't be recorded", async () => {
    const fail = (): never => {
      throw new Error("broken");
    };
    const unreadable = await createApprover({ policy: fail })(command("ls"));
    expect(unreadable.outcome).toMatchObject({ decision: "deny", reason: "the policy could not be read" });
    const unrecorded = await createApprover({ policy, onDecision: fail })(command("ls"));
    expect(unrecorded.outcome).toMatchObject({ decision: "deny", cancel: false });
    expect(unrecorded.record).toMatchObject({ decision: "deny", scope: "call" });
  });

  it.each([Infinity, 2 ** 31])(
    "waits for a person if the timeout is longer than a timer can be: %s",
    async (timeoutMs) => {
      const ask: AskHandler = () =>
        new Promise((resolve) => setTimeout(() => resolve({ decision: "allow" }), 60_000));
      const pending = createApprover({ policy, ask, timeoutMs })(command("deploytool"));
      await vi.advanceTimersByTimeAsync(60_000);
      expect((await pending).outcome.decision).toBe("allow");
    },
  );

  it("denies if no answer arrives in time, and aborts the handler", async () => {
    let signal: AbortSignal | undefined;
    const approve = createApprover({
      policy,
      timeoutMs: 1000,
      ask: async (_question, given) => {
        signal = given;
        return new Promise<Answer>(() => {});
      },
    });
    const pending = approve(command("deploytool"));
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
    const { outcome, record } = await approve(command("deploytool"));
    expect(outcome).toMatchObject({ decision: "allow", scope: "call" });
    expect([record.decidedBy, record.by]).toEqual(["person", "ann"]);
    expect(late.mock.calls[0]?.[1].aborted).toBe(true);
  });

  it("skips handlers that fail, have no answer, or return an invalid one", async () => {
    const fails: AskHandler = () => {
      throw new Error("broken");
    };
    const nonsense = (() => ({ decision: "yes" })) as unknown as AskHandler;
    expect(
      (await createApprover({ policy, ask: [fails, () => undefined, nonsense] })(command("deploytool")))
        .record.decidedBy,
    ).toBe("no-handler");
    expect(
      (await createApprover({ policy, ask: [fails, () => ({ decision: "allow" })] })(command("deploytool")))
        .record.decision,
    ).toBe("allow");
  });

  it("ends when the question is withdrawn", async () => {
    const controller = new AbortController();
    const pending = createApprover({ policy, ask: async () => new Promise<Answer>(() => {}) })(
      command("deploytool"),
      controller.signal,
    );
    controller.abort();
    expect((await pending).record.decidedBy).toBe("withdrawn");
  });

  it("cancels the turn if an answer requests it", async () => {
    const approve = createApprover({
      policy,
      ask: () => ({ decision: "deny", cancel: true, reason: "not today" }),
    });
    const { outcome } = await approve(command("deploytool"));
    expect(outcome).toEqual({ decision: "deny", cancel: true, reason: "not today" });
  });

  it("uses the current policy for each request", async () => {
    let current: Policy = policy;
    const approve = createApprover({ policy: () => current });
    expect((await approve(command("ls"))).record.decision).toBe("allow");
    current = definePolicy({ deny: ["ls"] });
    expect((await approve(command("ls"))).record.decision).toBe("deny");
  });

  it("does not trust paths when the resolver fails", async () => {
    const approve = createApprover({
      policy,
      resolve: async () => Promise.reject(new Error("no disk")),
    });
    expect((await approve(command("echo x > a.txt"))).record.decision).toBe("deny");
  });

  it("grants the permissions that a person allows, but never those that are refused", async () => {
    const approve = createApprover({ policy, ask: () => ({ decision: "allow", scope: "session" }) });
    const ask = async (write: readonly string[]) => {
      const permissions = { network: { enabled: true }, fileSystem: { read: null, write } };
      return (await approve({ kind: "permissions", cwd: "/w", permissions })).outcome;
    };
    expect(await ask(["/data/x"])).toMatchObject({
      decision: "allow",
      scope: "session",
      grant: { network: { enabled: true }, fileSystem: { read: null, write: ["/data/x"] } },
    });
    expect(await ask(["/data/x", "/etc"])).toMatchObject({ decision: "deny" });
  });
});

describe("always allow this", () => {
  const always = createApprover({ policy, ask: () => ({ decision: "allow", scope: "always" }) });

  it.each(["npm publish --tag next > ../log", "bash -lc 'cd x && deploytool --fast'", "frob $((1)) | sh"])(
    "stores a rule for exactly %s and nothing else",
    async (text) => {
      const { remember: stored, outcome } = await always(command(text));
      expect(stored).toEqual([
        { kind: "script", text, folder: "/w", note: "exactly this script, redirections included" },
      ]);
      expect(outcome).toMatchObject({ decision: "allow", scope: "always", rule: stored[0] });
      const next = createApprover({ policy: remember(policy, stored) });
      expect((await next(command(text))).record).toMatchObject({ decision: "allow", decidedBy: "policy" });
      expect((await next(command(`${text} x`))).record.decision).toBe("deny");
    },
  );

  it("is described in words", async () => {
    const { remember: stored } = await always(command("frob > x"));
    expect(stored.map(describeRule)).toEqual(["exactly the script: frob > x (in /w)"]);
  });

  it("stores hosts, tools and files as rules of their own kinds", async () => {
    const network = await always({
      ...command("curl x"),
      network: { host: "api.example.org", protocol: "https" },
    });
    expect(network.remember).toEqual([{ kind: "host", host: "api.example.org:443", scope: "always" }]);
    const tool = await always({ kind: "mcpTool", server: "s", tool: "read" });
    expect(tool.remember).toEqual([{ kind: "mcp", server: "s", tool: "read", scope: "session" }]);
    const patch = await always({
      kind: "fileChange",
      changes: [{ path: "/data/x", kind: "add" }],
      cwd: "/w",
    });
    expect(patch.remember).toEqual([{ kind: "path", glob: "/data/x", access: "update" }]);
  });
});
