import { gate, run, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { codexFolders, launchCodex, repetitions, startAppServer, tempFolder } from "@codexkit/testing";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Codex, VERSION } from "./codex.ts";
import type { CodexEvent } from "./events/event.ts";
import type { Turn } from "./turn/turn.ts";

const holding: ScriptFunction = ({ lastUserText }) =>
  lastUserText.startsWith("hold") ? say(["half ", waitFor(gate())]) : say(`received: ${lastUserText}`);

async function untilSpeaking(turn: Turn): Promise<void> {
  for await (const event of turn) if (event.type === "item.delta") return;
}

function ends(events: readonly CodexEvent[]): CodexEvent["type"][] {
  return events
    .map(({ type }) => type)
    .filter((type) => /^turn\.(?:completed|failed|interrupted)$/.test(type));
}

describe("launching", () => {
  it("sends the name of the program in the handshake", async () => {
    await using stage = await launchCodex({
      model: [],
      clientInfo: { name: "my-program", version: "1.2.3" },
    });
    const { userAgent, codexHome } = await stage.codex.server();
    expect(userAgent).toMatch(/^my-program\/0\.166\.0 /);
    expect(codexHome).toBe(stage.codexHome);
    expect(stage.codex.pid).toBeGreaterThan(0);
  });

  it("has the version of its package.json", async () => {
    const manifest = JSON.parse(
      await readFile(join(import.meta.dirname, "../package.json"), "utf8"),
    ) as unknown;
    expect(manifest).toMatchObject({ version: VERSION });
  });

  it("reports why codex exited before the handshake", async () => {
    const launched = launchCodex({ model: [], config: { approval_policy: "untrusted" } });
    await expect(launched).rejects.toMatchObject({
      code: "codex_start_failed",
      message: expect.stringContaining("no longer supported") as string,
    });
  });

  it("lists the searched locations if codex is not found", async () => {
    await expect(Codex.launch({ codexPath: "/nowhere/codex" })).rejects.toMatchObject({
      code: "codex_not_found",
    });
  });

  it("rejects a codex older than the minimum version", async () => {
    const launched = launchCodex({ model: [], minimumVersion: "999.0.0" });
    await expect(launched).rejects.toMatchObject({ code: "codex_too_old" });
  });

  it("omits notifications that were opted out of, and rejects experimental requests unless enabled", async () => {
    await using stage = await launchCodex({
      model: holding,
      experimentalApi: false,
      optOutNotifications: ["item/agentMessage/delta"],
    });
    const thread = await stage.codex.startThread({ cwd: stage.workspace });
    const turn = thread.run("hello");
    const events = await Array.fromAsync(turn);
    expect(events.filter(({ type }) => type === "item.delta")).toEqual([]);
    expect((await turn).finalResponse).toBe("received: hello");
    await expect(stage.codex.request("thread/search", { searchTerm: "x" })).rejects.toMatchObject({
      code: "request_failed",
    });
  });
});

describe("a codex that is killed", () => {
  it("ends its turn once, and the next codex continues the thread, many times in a row", async () => {
    await using stage = await launchCodex({ model: holding, modelRetries: 0 });
    const { codex } = stage;
    const thread = await codex.startThread({ cwd: stage.workspace });
    await thread.run("a first turn, so that the thread is stored");
    const pids = new Set<number>();
    const rounds = repetitions({ test: 5, soak: 50 });
    for (let round = 1; round <= rounds; round += 1) {
      const turn = thread.run(`hold ${round}`);
      const events = Array.fromAsync(turn);
      await untilSpeaking(turn);
      const pid = codex.pid ?? 0;
      pids.add(pid);
      process.kill(pid, "SIGKILL");
      await expect(turn).rejects.toMatchObject({
        name: "TurnFailedError",
        code: "app_server_crashed",
        message: expect.stringContaining("SIGKILL") as string,
        result: { status: "failed", finalResponse: "half " },
      });
      expect(ends(await events)).toEqual(["turn.failed"]);
    }
    expect(pids.size).toBe(rounds);
    expect((await thread.run("still here")).finalResponse).toBe("received: still here");
  }, 120_000);

  it("ends every turn of every thread, and every call", async () => {
    await using stage = await launchCodex({ model: holding, modelRetries: 0 });
    const { codex } = stage;
    const threads = await Promise.all(
      Array.from({ length: 8 }, () => codex.startThread({ cwd: stage.workspace, ephemeral: true })),
    );
    const turns = threads.map((thread) => thread.run("hold"));
    await Promise.all(turns.map((turn) => untilSpeaking(turn)));
    const call = codex.request("command/exec", { command: ["sleep", "600"] }, { timeoutMs: 60_000 });
    process.kill(codex.pid ?? 0, "SIGKILL");
    const outcomes = await Promise.allSettled([...turns, call]);
    const crashed = { status: "rejected", reason: { code: "app_server_crashed" } };
    expect(outcomes).toMatchObject(outcomes.map(() => crashed));
    // An ephemeral thread can't be continued.
    await expect(threads[0]?.run("again")).rejects.toMatchObject({ code: "thread_lost" });
  });

  it("is not restarted by closing its threads", async () => {
    await using stage = await launchCodex({ model: holding });
    const thread = await stage.codex.startThread({ cwd: stage.workspace });
    const lost = Promise.withResolvers<void>();
    const turn = thread.run("hold");
    await untilSpeaking(turn);
    process.kill(stage.codex.pid ?? 0, "SIGKILL");
    await turn.result().catch(() => lost.resolve());
    await lost.promise;
    await thread.close();
    expect(stage.codex.pid).toBeUndefined();
  });
});

describe("the end of a connection", () => {
  it("is reported for a codex that dies while idle, and for a close", async () => {
    await using stage = await launchCodex({ model: [] });
    const { codex } = stage;
    const codes: string[] = [];
    const lost = Promise.withResolvers<void>();
    using _listener = codex.onDisconnect(({ code }) => {
      codes.push(code);
      lost.resolve();
    });
    process.kill(codex.pid ?? 0, "SIGKILL");
    await lost.promise;
    await codex.server();
    await codex.close();
    expect(codes).toEqual(["app_server_crashed", "closed"]);
  });
});

describe("closing", () => {
  it("ends running turns with the code closed, and rejects later calls", async () => {
    await using stage = await launchCodex({ model: holding });
    const thread = await stage.codex.startThread({ cwd: stage.workspace });
    const everything = Array.fromAsync(stage.codex.events());
    const turn = thread.run("hold");
    await untilSpeaking(turn);
    await stage.codex.close();
    await stage.codex.close();
    await expect(turn).rejects.toMatchObject({ code: "closed" });
    expect(ends(await everything)).toEqual(["turn.failed"]);
    await expect(thread.run("more")).rejects.toMatchObject({ code: "closed" });
    await expect(stage.codex.startThread()).rejects.toMatchObject({ code: "closed" });
  });
});

describe("attaching", () => {
  it("sends its token, and quotes the server's response to a wrong one", async () => {
    await using folder = await tempFolder();
    const tokenFile = join(folder.path, "token");
    const token = "open-sesame-open-sesame-open-sesame";
    await writeFile(tokenFile, token);
    await using server = await startAppServer({
      model: holding,
      listen: "ws",
      args: ["--ws-auth", "capability-token", "--ws-token-file", tokenFile],
      token,
    });
    const url = server.url ?? "";
    await expect(Codex.connect(url, { token: "wrong" })).rejects.toMatchObject({
      code: "connect_failed",
      message: expect.stringContaining("401") as string,
    });
    await using codex = await Codex.connect(url, { token });
    const thread = await codex.startThread({ cwd: server.workspace });
    expect((await thread.run("hello")).finalResponse).toBe("received: hello");
    expect(codex.pid).toBeUndefined();
  });

  it("reports that no server is listening", async () => {
    await expect(Codex.connect("ws://127.0.0.1:1")).rejects.toMatchObject({
      name: "CodexError",
      code: "connect_failed",
    });
    await expect(Codex.connect("http://127.0.0.1:1")).rejects.toMatchObject({ code: "connect_failed" });
  });

  it("leaves the server and its turns running when it closes, and can attach again", async () => {
    const open = gate();
    await using server = await startAppServer({
      model: () => say(["half ", waitFor(open), "whole"]),
      listen: "unix",
    });
    const url = server.url ?? "";
    const first = await connectWhenUp(url);
    const thread = await first.startThread({ cwd: server.workspace });
    const turn = thread.run("hold");
    await untilSpeaking(turn);
    await first.close();
    await expect(turn).rejects.toMatchObject({ code: "closed" });
    await using second = await Codex.connect(url);
    const joined = await second.resumeThread(thread.id);
    const attached = joined.attach(await turn.id);
    await attached.id;
    open.open();
    expect(await attached).toMatchObject({ status: "completed", finalResponse: "half whole" });
    await expect(joined.attach(await turn.id)).rejects.toMatchObject({ code: "turn_not_active" });
    const [last] = await Array.fromAsync(joined.history.turns({ itemsView: "full" }));
    expect(last?.status).toBe("completed");
    expect(JSON.stringify(last?.items)).toContain("half whole");
  });

  it("ends turns with connection_lost if the server dies, and reconnects when it is back", async () => {
    await using folders = await codexFolders({ model: holding });
    const socket = `unix://${join(folders.root, "s.sock")}`;
    const options = { env: folders.env, inheritEnv: false, listen: socket };
    const owner = await Codex.launch(options);
    await using client = await Codex.connect(socket);
    const thread = await client.startThread({ cwd: folders.workspace });
    await thread.run("stored");
    const turn = thread.run("hold");
    await untilSpeaking(turn);
    process.kill(owner.pid ?? 0, "SIGKILL");
    await expect(turn).rejects.toMatchObject({ code: "connection_lost" });
    await expect(thread.run("too early")).rejects.toMatchObject({ code: "connect_failed" });
    await owner.close();
    await using _again = await Codex.launch(options);
    expect((await thread.run("back")).finalResponse).toBe("received: back");
  });
});

describe("approvals", () => {
  it("that are pending on one thread delay no other thread, interrupt or approval", async () => {
    const script: ScriptFunction = ({ lastUserText, newOutputs }) =>
      lastUserText.startsWith("ask") && newOutputs.length === 0
        ? run(`echo ${lastUserText}`, { escalate: "please" })
        : say("done");
    await using stage = await launchCodex({
      model: script,
      handlers: {
        commandApproval: ({ command }) =>
          command?.includes("for-ever") ? new Promise<never>(() => {}) : "accept",
      },
    });
    const start = (): ReturnType<Codex["startThread"]> =>
      stage.codex.startThread({
        cwd: stage.workspace,
        approvalPolicy: "on-request",
        sandbox: "workspace-write",
      });
    const [a, b, c] = [await start(), await start(), await start()];
    const pending = a.run("ask for-ever");
    for await (const event of pending) if (event.type === "approval.requested") break;
    // The turn and the approval of another thread complete.
    expect((await b.run("just talk")).finalResponse).toBe("done");
    const { items } = await c.run("ask at-once");
    expect(items).toContainEqual(expect.objectContaining({ type: "commandExecution", status: "completed" }));
    // The waiting turn can be interrupted.
    const events = Array.fromAsync(pending);
    await pending.interrupt();
    expect(await pending).toMatchObject({ status: "interrupted" });
    expect(ends(await events)).toEqual(["turn.interrupted"]);
  });

  it("are denied, and an event reports it, if no handler answers them", async () => {
    await using stage = await launchCodex({
      model: ({ newOutputs }) =>
        newOutputs.length === 0 ? run("echo no", { escalate: "please" }) : say("done"),
    });
    const thread = await stage.codex.startThread({ cwd: stage.workspace, approvalPolicy: "on-request" });
    const turn = thread.run("go");
    const events = await Array.fromAsync(turn);
    expect(events).toContainEqual(expect.objectContaining({ type: "warning", kind: "unanswered_request" }));
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "approval.resolved",
        outcome: expect.objectContaining({ by: "default" }) as unknown,
      }),
    );
    expect((await turn).items).toContainEqual(
      expect.objectContaining({ type: "commandExecution", status: "declined" }),
    );
  });
});

/** A unix server prints nothing: it is ready when it accepts a connection. */
async function connectWhenUp(url: string): Promise<Codex> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const codex = await Codex.connect(url).catch(() => undefined);
    if (codex) return codex;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  throw new Error(`Nobody listens at ${url}`);
}
