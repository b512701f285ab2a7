// Tests the real codex over each of its transports, using only the rpc peer.
import type { ClientWire, ServerNotifications } from "@codexkit/protocol";
import { type Peer, RemoteError, RpcError } from "@codexkit/rpc";
import { gate, run, say, type Script, waitFor } from "@codexkit/scripted-model";
import { type AppServer, type Listen, startAppServer } from "@codexkit/testing";
import { describe, expect, it } from "vitest";

type Received = {
  [M in keyof ServerNotifications]: { method: M; params: ServerNotifications[M] };
}[keyof ServerNotifications];

/** All received notifications, and a way to wait for the next one of a method. */
function listen(peer: Peer<ClientWire>): {
  received: Received[];
  until: <M extends Received["method"]>(method: M) => Promise<ServerNotifications[M]>;
} {
  const received: Received[] = [];
  const waiting = new Map<string, (params: unknown) => void>();
  peer.onRest((params, { method }) => {
    received.push({ method, params } as Received);
    waiting.get(method)?.(params);
    waiting.delete(method);
  });
  return {
    received,
    until: (method) =>
      new Promise((resolve) => {
        waiting.set(method, resolve as (params: unknown) => void);
      }),
  };
}

async function startThread(
  server: AppServer,
  peer: Peer<ClientWire>,
  approvalPolicy: "never" | "on-request",
): Promise<string> {
  const { thread } = await peer.request("thread/start", {
    cwd: server.workspace,
    sandbox: "workspace-write",
    approvalPolicy,
    ephemeral: true,
  });
  return thread.id;
}

function text(words: string): { type: "text"; text: string; text_elements: [] } {
  return { type: "text", text: words, text_elements: [] };
}

const transports: Listen[] = ["stdio", "ws", "unix"];

describe.each(transports)("a real codex over %s", (transport) => {
  const start = (model: Script, more: object = {}): Promise<AppServer> =>
    startAppServer({ model, listen: transport, modelRetries: 0, ...more });

  it("completes the handshake and streams a turn as deltas", async () => {
    await using server = await start([[say("Hello, codexkit", { chunkSize: 3 })]]);
    const peer = await server.connect();
    const { received, until } = listen(peer);
    const threadId = await startThread(server, peer, "never");
    const completed = until("turn/completed");
    const { turn } = await peer.request("turn/start", { threadId, input: [text("hi")] });
    const end = await completed;
    expect(end.turn).toMatchObject({ id: turn.id, status: "completed" });
    const deltas = received.flatMap(({ method, params }) =>
      method === "item/agentMessage/delta" ? [params.delta] : [],
    );
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe("Hello, codexkit");
  });

  it("asks before an escalated command, and runs it once it is approved", async () => {
    await using server = await start([
      [run("echo approved-and-run", { escalate: "to show an approval" })],
      [say("done")],
    ]);
    const peer = await server.connect();
    const { received, until } = listen(peer);
    const asked: unknown[] = [];
    peer.handle("item/commandExecution/requestApproval", (params) => {
      asked.push(params.command);
      return { decision: "accept" };
    });
    const threadId = await startThread(server, peer, "on-request");
    const completed = until("turn/completed");
    await peer.request("turn/start", { threadId, input: [text("run it")] });
    expect((await completed).turn.status).toBe("completed");
    expect(asked).toEqual([expect.stringContaining("echo approved-and-run")]);
    const commands = received.flatMap(({ method, params }) =>
      method === "item/completed" && params.item.type === "commandExecution" ? [params.item] : [],
    );
    expect(commands).toMatchObject([{ status: "completed", exitCode: 0 }]);
    expect(commands[0]?.aggregatedOutput).toContain("approved-and-run");
  });

  it("interrupts a turn that waits for the model", async () => {
    const never = gate();
    await using server = await start([[say("half", { id: "msg_half" }), waitFor(never)]]);
    const peer = await server.connect();
    const { until } = listen(peer);
    const threadId = await startThread(server, peer, "never");
    const speaking = until("item/agentMessage/delta");
    const completed = until("turn/completed");
    const { turn } = await peer.request("turn/start", { threadId, input: [text("go")] });
    await speaking;
    await peer.request("turn/interrupt", { threadId, turnId: turn.id });
    expect((await completed).turn.status).toBe("interrupted");
  });

  it("answers 500 concurrent requests without rejecting any", async () => {
    await using server = await start([]);
    const peer = await server.connect();
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => peer.request("thread/loaded/list", {})),
    );
    expect(answers).toHaveLength(500);
    expect(peer.counts).toEqual({ inFlight: 0, queued: 0 });
  });

  it("rejects every pending call when codex dies in the middle of a turn", async () => {
    const never = gate();
    await using server = await start([[say("speaking"), waitFor(never)]]);
    const peer = await server.connect();
    const { until } = listen(peer);
    const threadId = await startThread(server, peer, "never");
    const speaking = until("item/agentMessage/delta");
    await peer.request("turn/start", { threadId, input: [text("go")] });
    await speaking;
    const pending = Array.from({ length: 100 }, () =>
      peer.request("thread/read", { threadId, includeTurns: false }).catch((error: unknown) => error),
    );
    server.process.kill("SIGKILL");
    const errors = new Set(await Promise.all(pending));
    const closed = [...errors].find((outcome) => outcome instanceof RpcError);
    expect(closed).toMatchObject({ code: "closed" });
    // Calls that codex answered before it died resolve; all others reject with the same error.
    expect([...errors].filter((outcome) => outcome instanceof Error)).toEqual([closed]);
    await expect(peer.request("thread/loaded/list", {})).rejects.toBe(closed);
  });

  it("reports a config error that kills codex before the handshake", async () => {
    const started = (async () => {
      await using server = await start([], { config: ['approval_policy="untrusted"'] });
      await server.connect();
    })();
    await expect(started).rejects.toThrow(/untrusted.*no longer supported/);
  });
});

describe("a codex that this process started", () => {
  it("includes the end of its stderr in the error of every pending call", async () => {
    // A codex that was killed early may have written only log lines.
    await using server = await startAppServer({ model: [], env: { RUST_LOG: "info" } });
    const peer = await server.connect();
    const pending = peer.request("command/exec", { command: ["cat"], timeoutMs: 60_000 });
    server.process.kill("SIGKILL");
    await expect(pending).rejects.toThrow(/SIGKILL; stderr:\n[^]*INFO[^]*initialize/);
  });
});

describe("two clients of one server", () => {
  it("receive only their own errors", async () => {
    await using server = await startAppServer({ model: [], listen: "unix" });
    const [first, second] = [await server.connect(), await server.connect()];
    await expect(first.request("thread/read", { threadId: "unknown", includeTurns: false })).rejects.toThrow(
      RemoteError,
    );
    await expect(second.request("thread/loaded/list", {})).resolves.toMatchObject({ data: [] });
  });
});
