// Provokes each error message of the real codex. A release with other messages fails here.
import type { ClientRequests, ClientWire, v2 } from "@codexkit/protocol";
import { memoryTransportPair, Peer, RemoteError, RPC_CODES, RpcError } from "@codexkit/rpc";
import { gate, say, waitFor } from "@codexkit/scripted-model";
import { type AppServer, startAppServer, startFakeAppServer } from "@codexkit/testing";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CodexError, type CodexErrorCode } from "../errors.ts";
import { toCodexError } from "./translate-error.ts";

const UNKNOWN_THREAD = "01998d5e-0000-7000-8000-000000000000";
const call = { method: "thread/read", launched: true };

function text(words: string): v2.UserInput[] {
  return [{ type: "text", text: words, text_elements: [] }];
}

type Params = Record<string, unknown>;

describe("a refusal of the real codex", () => {
  const never = gate();
  const started = new AsyncDisposableStack();
  let server: AppServer;
  let peer: Peer<ClientWire>;
  /** A thread that waits for its model. */
  let busy: { threadId: string; turnId: string };
  /** An idle thread with a completed turn. */
  let idle: { threadId: string; turnId: string };

  /** Untyped, because most of these tests send what the types forbid. */
  function send(to: Peer<ClientWire>, method: string, params: Params): Promise<unknown> {
    return to.request(method as "thread/read", params as unknown as ClientRequests["thread/read"]["params"]);
  }

  async function refusal(method: string, params: Params, from = peer): Promise<CodexError> {
    const error: unknown = await send(from, method, params).then(
      () => new Error(`${method} was not refused`),
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof RpcError)) throw error;
    return toCodexError(error, { method, launched: true });
  }

  function thread(): v2.ThreadStartParams {
    return { cwd: server.workspace, sandbox: "workspace-write", approvalPolicy: "never" };
  }

  async function startTurn(): Promise<{ threadId: string; turnId: string }> {
    const { thread: made } = await peer.request("thread/start", thread());
    const { turn } = await peer.request("turn/start", { threadId: made.id, input: text("go") });
    return { threadId: made.id, turnId: turn.id };
  }

  beforeAll(async () => {
    server = started.use(
      await startAppServer({
        model: ({ index }) => (index === 0 ? [say("done")] : [say("half"), waitFor(never)]),
        listen: "unix",
      }),
    );
    peer = await server.connect();
    const ended = Promise.withResolvers<void>();
    const isWaiting = Promise.withResolvers<void>();
    peer.on("turn/completed", () => ended.resolve());
    peer.on("item/agentMessage/delta", ({ threadId }) => {
      if (threadId !== idle?.threadId) isWaiting.resolve();
    });
    idle = await startTurn();
    await ended.promise;
    busy = await startTurn();
    await isWaiting.promise;
  });
  afterAll(() => started.disposeAsync());

  const unknownThread: readonly [method: string, more: Params][] = [
    ["thread/read", {}],
    ["thread/resume", {}],
    ["thread/fork", {}],
    ["thread/archive", {}],
    ["thread/unarchive", {}],
    ["thread/delete", {}],
    ["thread/turns/list", {}],
    ["thread/name/set", { name: "x" }],
    ["thread/compact/start", {}],
    ["thread/goal/get", {}],
    ["thread/queue/list", {}],
    ["thread/queue/add", { input: text("x"), clientUserMessageId: "x" }],
    ["thread/settings/update", {}],
    ["turn/start", { input: text("x") }],
    ["turn/steer", { input: text("x"), expectedTurnId: UNKNOWN_THREAD }],
    ["turn/interrupt", { turnId: UNKNOWN_THREAD }],
    ["review/start", { target: { type: "uncommittedChanges" } }],
    ["mcpServerStatus/list", {}],
  ];
  it.each(unknownThread)("%s of an unknown thread is thread_not_found", async (method, more) => {
    expect(await refusal(method, { threadId: UNKNOWN_THREAD, ...more })).toMatchObject({
      code: "thread_not_found",
    });
  });
  it.each(unknownThread.filter(([method]) => method !== "mcpServerStatus/list"))(
    "%s of an invalid thread ID is thread_not_found",
    async (method, more) => {
      expect(await refusal(method, { threadId: "unknown", ...more })).toMatchObject({
        code: "thread_not_found",
      });
    },
  );

  it("of a thread whose file is empty is thread_not_found", async () => {
    const threadId = "01998d5e-0000-7000-8000-000000000001";
    const folder = join(server.codexHome, "sessions", "2026", "01", "02");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `rollout-2026-01-02T03-04-05-${threadId}.jsonl`), "");
    expect(await refusal("thread/resume", { threadId })).toMatchObject({ code: "thread_not_found" });
  });

  it("lists the alternatives if another process has the thread open", async () => {
    await using second = await startAppServer({ model: [], env: { CODEX_HOME: server.codexHome } });
    const other = await second.connect();
    for (const method of ["thread/resume", "thread/archive", "thread/delete"]) {
      const error = await refusal(method, { threadId: idle.threadId }, other);
      expect(error).toMatchObject({ code: "thread_locked" });
      expect(error.message).toMatch(/already has an active writer.*Wait.*fork.*read/);
    }
    await expect(send(other, "thread/read", { threadId: idle.threadId })).resolves.toBeDefined();
    await expect(send(other, "thread/fork", { threadId: idle.threadId })).resolves.toBeDefined();
  });

  it("while it shuts down is server_closing", async () => {
    const held = gate();
    await using ending = await startAppServer({ model: () => [say("half"), waitFor(held)], listen: "unix" });
    const other = await ending.connect();
    const { thread: made } = await other.request("thread/start", { cwd: ending.workspace });
    await other.request("turn/start", { threadId: made.id, input: text("go") });
    await ending.model.waitForRequests(1);
    ending.process.kill("SIGTERM");
    const params = { threadId: made.id };
    await expect
      .poll(async () => (await refusal("turn/start", { ...params, input: [] }, other)).code)
      .toBe("server_closing");
    expect(await refusal("thread/resume", params, other)).toMatchObject({ code: "server_closing" });
    held.open();
  });

  it("of a turn that is not running is turn_not_active", async () => {
    const { threadId, turnId } = idle;
    const input = text("x");
    expect(await refusal("turn/steer", { threadId, input, expectedTurnId: turnId })).toMatchObject({
      code: "turn_not_active",
      message: expect.stringContaining("no active turn to steer") as string,
    });
    expect(await refusal("turn/interrupt", { threadId, turnId })).toMatchObject({
      code: "turn_not_active",
      message: expect.stringContaining("no active turn to interrupt") as string,
    });
  });

  it("of a turn other than the running one is turn_not_active", async () => {
    const { threadId } = busy;
    const steer = await refusal("turn/steer", { threadId, input: text("x"), expectedTurnId: UNKNOWN_THREAD });
    expect(steer).toMatchObject({ code: "turn_not_active" });
    expect(await refusal("turn/interrupt", { threadId, turnId: UNKNOWN_THREAD })).toMatchObject({
      code: "turn_not_active",
    });
  });

  it("of an unknown turn in the history is turn_not_found", async () => {
    const { threadId } = idle;
    for (const [method, params] of [
      ["thread/fork", { lastTurnId: UNKNOWN_THREAD }],
      ["thread/fork", { beforeTurnId: UNKNOWN_THREAD }],
      ["thread/revert", { beforeTurnId: UNKNOWN_THREAD }],
    ] as const) {
      expect(await refusal(method, { threadId, ...params })).toMatchObject({ code: "turn_not_found" });
    }
  });

  it.each(["thread/compact/start", "review/start"] as const)(
    "to steer a turn started by %s is turn_not_steerable",
    async (method) => {
      const { thread: made } = await peer.request("thread/start", thread());
      const threadId = made.id;
      const running = Promise.withResolvers<string>();
      using _listening = peer.on("turn/started", ({ threadId: id, turn }) => {
        if (id === threadId) running.resolve(turn.id);
      });
      const target = { type: "custom", instructions: "look" };
      const answer = (await send(peer, method, { threadId, target })) as { turn?: v2.Turn };
      const turnId = await running.promise;
      // A review has two IDs: one for its response, items and end, and one for `turn/started` and interrupts.
      const expectedTurnId = answer.turn?.id ?? turnId;
      const steer = await refusal("turn/steer", { threadId, input: text("x"), expectedTurnId });
      expect(steer).toMatchObject({ code: "turn_not_steerable" });
      expect(await refusal("turn/start", { threadId, input: text("x") })).toMatchObject({
        code: "turn_not_steerable",
      });
      await peer.request("turn/interrupt", { threadId, turnId });
    },
  );

  it("of an input that is too long is input_too_large, counted in code points of all texts", async () => {
    const { threadId } = idle;
    const half = text("x".repeat(600_000));
    for (const input of [text("é".repeat(1_048_577)), [...half, ...half]]) {
      for (const [method, more] of [
        ["turn/start", {}],
        ["turn/steer", { expectedTurnId: UNKNOWN_THREAD }],
        ["thread/queue/add", { clientUserMessageId: "x" }],
      ] as const) {
        expect(await refusal(method, { threadId, input, ...more })).toMatchObject({
          code: "input_too_large",
        });
      }
    }
    // The largest accepted input: two UTF-16 units per character, next to a large image.
    const image = { type: "image", url: `data:image/png;base64,${"A".repeat(2_000_000)}` };
    const input = [...text("😀".repeat(1_048_576)), image];
    expect(await refusal("turn/steer", { threadId, input, expectedTurnId: UNKNOWN_THREAD })).toMatchObject({
      code: "turn_not_active",
    });
  });

  const wrongArguments: readonly [what: string, method: string, params: Params, code: CodexErrorCode][] = [
    ["an unknown sandbox", "thread/start", { sandbox: "workspaceWrite" }, "invalid_argument"],
    ["an unknown approval policy", "thread/start", { approvalPolicy: "on-failure" }, "invalid_argument"],
    ["an unknown provider", "thread/start", { modelProvider: "nope" }, "invalid_argument"],
    [
      "an MCP server without a transport",
      "thread/start",
      { config: { mcp_servers: { x: {} } } },
      "invalid_argument",
    ],
    ["a relative path", "fs/readFile", { path: "a.txt" }, "invalid_argument"],
    [
      "contradictory timeouts",
      "command/exec",
      { command: ["ls"], timeoutMs: 1, disableTimeout: true },
      "invalid_argument",
    ],
    ["an unknown method", "no/such", {}, "request_failed"],
    ["a missing file", "fs/readFile", { path: "/no/such/file" }, "request_failed"],
  ];
  it.each(wrongArguments)("of %s has the right code", async (_what, method, params, code) => {
    const error = await refusal(method, params);
    expect(error).toMatchObject({ code });
    expect(error.message.length).toBeLessThan(600);
  });

  it("of a remote image is invalid_argument", async () => {
    const input = [{ type: "image", url: "https://example.com/x.png" }];
    expect(await refusal("turn/start", { threadId: idle.threadId, input })).toMatchObject({
      code: "invalid_argument",
    });
  });

  it("of two sandboxes for one turn is invalid_argument", async () => {
    const both = { sandboxPolicy: { type: "dangerFullAccess" }, permissions: ":workspace" };
    const error = await refusal("turn/start", { threadId: idle.threadId, input: text("x"), ...both });
    expect(error).toMatchObject({ code: "invalid_argument" });
  });

  const tool = { type: "function", name: "x", description: "d", inputSchema: { type: "object" } };
  const space = { type: "namespace", name: "n", description: "d", tools: [tool] };
  it.each([
    ["a name with a space", [{ ...tool, name: "a b" }]],
    ["an empty name", [{ ...tool, name: "" }]],
    ["a long name", [{ ...tool, name: "a".repeat(129) }]],
    ["a reserved name", [{ ...tool, name: "mcp__x" }]],
    ["a duplicate name", [tool, tool]],
    ["deferred loading but no namespace", [{ ...tool, deferLoading: true }]],
    ["an invalid schema", [{ ...tool, inputSchema: "x" }]],
    ["a reserved namespace", [{ ...space, name: "web" }]],
    ["an empty namespace", [{ ...space, tools: [] }]],
    ["a long namespace", [{ ...space, name: "n".repeat(65) }]],
  ])("of a tool with %s is invalid_tool", async (_what, dynamicTools) => {
    const error = await refusal("thread/start", { ...thread(), dynamicTools });
    expect(error).toMatchObject({ code: "invalid_tool" });
  });

  it("of an experimental method says how to enable it", async () => {
    const stable = await server.connect({
      initialize: { capabilities: { experimentalApi: false, requestAttestation: false } },
    });
    const error = await refusal("thread/queue/list", { threadId: idle.threadId }, stable);
    expect(error).toMatchObject({ code: "request_failed" });
    expect(error.message).toMatch(/requires experimentalApi capability.*experimentalApi: true/);
  });

  it("does not occur for an unknown model or a missing folder, which codex accepts", async () => {
    for (const odd of [{ model: "no-such-model" }, { cwd: "/no/such/folder" }]) {
      await expect(
        send(peer, "thread/start", { ...thread(), ...odd, ephemeral: true }),
      ).resolves.toBeDefined();
    }
  });
});

describe("an end of the connection", () => {
  async function errorOf(peer: Peer<ClientWire>, end: () => unknown, launched: boolean): Promise<CodexError> {
    const pending = peer.request("thread/loaded/list", {}).catch((error: unknown) => error);
    await end();
    return toCodexError(await pending, { method: "thread/loaded/list", launched });
  }

  it("is a crash if the server was launched here", async () => {
    await using fake = startFakeAppServer({
      on: { "thread/loaded/list": [{ do: "kill", signal: "SIGKILL" }] },
    });
    const error = await errorOf(fake.peer, () => {}, true);
    expect(error).toMatchObject({ code: "app_server_crashed" });
    expect(error.message).toMatch(/SIGKILL/);
    expect(error.cause).toBeInstanceOf(RpcError);
  });

  it("is a lost connection if the server was not launched here", async () => {
    const [ours, theirs] = memoryTransportPair();
    const peer = new Peer<ClientWire>(ours);
    expect(await errorOf(peer, () => theirs.close(), false)).toMatchObject({ code: "connection_lost" });
  });

  it("is not a crash if this side closed it", async () => {
    const [ours] = memoryTransportPair();
    const peer = new Peer<ClientWire>(ours);
    expect(await errorOf(peer, () => peer.close(), true)).toMatchObject({ code: "closed" });
  });
});

describe("a failure on this side", () => {
  it.each([
    ["timeout", "timeout"],
    ["queue_full", "overloaded"],
    ["unserializable", "invalid_argument"],
    ["message_too_large", "invalid_argument"],
    ["connect_failed", "connect_failed"],
    ["malformed", "request_failed"],
  ] as const)("with the code %s gets the code %s", (code, expected) => {
    const cause = new RpcError(code, "words");
    expect(toCodexError(cause, call)).toMatchObject({ code: expected, message: "words", cause });
  });

  it("keeps the caller's reason as the cause of an abort", async () => {
    const [ours] = memoryTransportPair();
    await using peer = new Peer<ClientWire>(ours);
    const reason = new Error("had enough");
    const error: unknown = await peer
      .request("thread/loaded/list", {}, { signal: AbortSignal.abort(reason) })
      .catch((thrown: unknown) => thrown);
    expect(toCodexError(error, call)).toMatchObject({ code: "aborted", cause: reason });
  });

  it("is overloaded if the server refused every attempt", () => {
    const refused = new RemoteError("turn/start", {
      code: RPC_CODES.overloaded,
      message: "Server overloaded; retry later.",
    });
    expect(toCodexError(refused, call)).toMatchObject({ code: "overloaded", cause: refused });
  });

  it("keeps a CodexError, and wraps other errors", () => {
    const own = new CodexError("thread_busy", "busy");
    expect(toCodexError(own, call)).toBe(own);
    const bug = new TypeError("x is not a function");
    expect(toCodexError(bug, call)).toMatchObject({ code: "request_failed", cause: bug });
    expect(toCodexError("text", call)).toMatchObject({ code: "request_failed" });
  });
});
