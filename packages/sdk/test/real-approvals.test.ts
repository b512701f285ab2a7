// Approvals of the real codex, answered through the broker.
import { callTool, patch, run, say, type Script, writeStdin } from "@codexkit/scripted-model";
import { type AppServer, startAppServer } from "@codexkit/testing";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { BrokerClient } from "./broker-client.ts";
import type { CommandApproval } from "../src/requests/command-approval.ts";
import { decisions } from "../src/requests/decisions.ts";
import type { FileChangeApproval } from "../src/requests/file-change-approval.ts";
import type { AnyApproval, ServerRequestHandlers } from "../src/requests/handlers.ts";

const start = (model: Script, more: object = {}): Promise<AppServer> =>
  startAppServer({ model, modelRetries: 0, ...more });

/** The same command on every turn. */
const command = run("echo by-hand", { escalate: "to show an approval", prefixRule: ["echo", "by-hand"] });
const everyTurn: Script = (request) => (request.newOutputs.length === 0 ? command : say("done"));

/** Runs the command in two turns. Returns the approvals and the outcomes. */
async function twice(
  handlers: ServerRequestHandlers,
): Promise<{ asked: unknown[]; statuses: unknown[]; turns: string[]; outcomes: unknown[] }> {
  await using server = await start(everyTurn);
  const client = await BrokerClient.connect(server, handlers);
  const threadId = await client.startThread(server);
  const turns = [await client.runTurn(threadId), await client.runTurn(threadId)];
  return {
    asked: client.events.filter(({ type }) => type === "approval.requested"),
    statuses: client.items.flatMap((item) => (item.type === "commandExecution" ? [item.status] : [])),
    turns: turns.map(({ status }) => status),
    outcomes: client.events.flatMap((event) => (event.type === "approval.resolved" ? [event.outcome] : [])),
  };
}

describe("a command that needs an approval", () => {
  it("runs each time it is accepted, and the handler gets its details", async () => {
    const approvals: CommandApproval[] = [];
    const seen = await twice({ commandApproval: (approval) => (approvals.push(approval), "accept") });
    expect(seen).toMatchObject({ turns: ["completed", "completed"], statuses: ["completed", "completed"] });
    expect(seen.outcomes).toMatchObject([{ by: "handler", decision: "accept" }, { by: "handler" }]);
    expect(approvals).toHaveLength(2);
    expect(approvals[0]).toMatchObject({
      action: "command",
      command: expect.stringContaining("echo by-hand"),
      reason: "to show an approval",
      proposedPrefix: ["echo", "by-hand"],
      item: { type: "commandExecution", status: "inProgress" },
    });
  });

  it("is not asked about again once its prefix is accepted", async () => {
    const seen = await twice({
      commandApproval: ({ proposedPrefix = [] }) => decisions.acceptWithPrefix(proposedPrefix),
    });
    expect(seen.asked).toHaveLength(1);
    expect(seen.statuses).toEqual(["completed", "completed"]);
  });

  it("is accepted once if acceptForSession is not offered", async () => {
    const seen = await twice({ commandApproval: () => "acceptForSession" });
    expect(seen.asked).toHaveLength(2);
    expect(seen.outcomes).toMatchObject([{ decision: "accept" }, { decision: "accept" }]);
  });

  it("does not run if it is declined, and the turn continues", async () => {
    const seen = await twice({ approve: () => "decline" });
    expect(seen).toMatchObject({ turns: ["completed", "completed"], statuses: ["declined", "declined"] });
  });

  it("ends the turn when it is cancelled", async () => {
    const seen = await twice({ approve: () => "cancel" });
    expect(seen.turns[0]).toBe("interrupted");
    expect(seen.outcomes[0]).toMatchObject({ by: "handler", decision: "cancel" });
  });

  it("does not run without an answer, and the turn continues", async () => {
    const seen = await twice({});
    expect(seen).toMatchObject({ turns: ["completed", "completed"], statuses: ["declined", "declined"] });
    expect(seen.outcomes).toMatchObject([{ by: "default" }, { by: "default" }]);
  });

  it("asks about its stdin too", async () => {
    const script: Script = (request) => {
      const begun = request.commandResult("begin");
      if (!begun) {
        return run("read line; echo got $line", { callId: "begin", tty: true, yieldMs: 250, escalate: "x" });
      }
      if (request.commandResult("type")) return say("done");
      return writeStdin(begun.sessionId ?? -1, "words\n", { callId: "type", yieldMs: 5_000 });
    };
    await using server = await start(script);
    const asked: unknown[] = [];
    const client = await BrokerClient.connect(server, {
      commandApproval: ({ action, input }) => (asked.push([action, input]), "accept"),
    });
    await client.runTurn(await client.startThread(server));
    expect(asked).toEqual([
      ["command", undefined],
      ["writeStdin", "words\n"],
    ]);
  });
});

describe("a pending approval", () => {
  it("is withdrawn when the turn is interrupted, and reported once", async () => {
    await using server = await start(everyTurn);
    const aborted = Promise.withResolvers<unknown>();
    const client = await BrokerClient.connect(server, {
      commandApproval: (_approval, { signal }) => {
        signal.addEventListener("abort", () => aborted.resolve(signal.reason));
        return new Promise(() => {});
      },
    });
    const threadId = await client.startThread(server);
    const asked = client.until("approval.requested");
    const completed = client.until("turn/completed");
    const resolved = client.until("serverRequest/resolved");
    const turnId = await client.startTurn(threadId);
    await asked;
    await client.peer.request("turn/interrupt", { threadId, turnId });
    await Promise.all([completed, resolved, aborted.promise]);
    expect(client.events.map(({ type }) => type)).toEqual(["approval.requested", "approval.resolved"]);
    expect(client.events[1]).toMatchObject({ outcome: { by: "withdrawn" } });
  });

  it("is withdrawn at the client that answers second", async () => {
    await using server = await start(everyTurn, { listen: "unix" });
    const slow = await BrokerClient.connect(server, { commandApproval: () => new Promise(() => {}) });
    const quick = await BrokerClient.connect(server);
    const threadId = await slow.startThread(server);
    const asked = slow.until("approval.requested");
    const resolved = slow.until("approval.resolved");
    const completed = slow.until("turn/completed");
    await slow.startTurn(threadId);
    await asked;
    quick.handlers = { commandApproval: () => "accept" };
    // A resume repeats the pending requests with the same IDs.
    await quick.peer.request("thread/resume", { threadId });
    await expect(resolved).resolves.toMatchObject({ outcome: { by: "otherClient" } });
    await completed;
    expect(quick.events).toMatchObject([{ type: "approval.requested" }, { outcome: { by: "handler" } }]);
    expect(slow.items.filter(({ type }) => type === "commandExecution")).toMatchObject([
      { status: "completed" },
    ]);
  });

  it("is handled once even if its thread is resumed meanwhile", async () => {
    await using server = await start(everyTurn, { listen: "unix" });
    const person = Promise.withResolvers<"accept">();
    let asks = 0;
    const client = await BrokerClient.connect(server, {
      commandApproval: () => {
        asks += 1;
        return person.promise;
      },
    });
    const threadId = await client.startThread(server);
    const asked = client.until("approval.requested");
    const completed = client.until("turn/completed");
    await client.startTurn(threadId);
    await asked;
    await client.peer.request("thread/resume", { threadId });
    // The repetition follows the response, so one more round trip is enough to receive it.
    await client.peer.request("thread/loaded/list", {});
    person.resolve("accept");
    await completed;
    expect(asks).toBe(1);
    expect(client.events.map(({ type }) => type)).toEqual(["approval.requested", "approval.resolved"]);
  });

  it("delays no other thread", async () => {
    await using server = await start(everyTurn);
    const person = Promise.withResolvers<"accept">();
    const client = await BrokerClient.connect(server);
    const [first, second] = [await client.startThread(server), await client.startThread(server)];
    client.handlers = {
      commandApproval: ({ threadId }) => (threadId === first ? person.promise : "accept"),
    };
    const asked = client.until("approval.requested");
    await client.startTurn(first);
    await asked;
    expect((await client.runTurn(second)).status).toBe("completed");
    const completed = client.until("turn/completed");
    person.resolve("accept");
    await completed;
  });
});

describe("a file change that needs an approval", () => {
  async function change(
    decide: (approval: FileChangeApproval) => "accept" | "acceptForSession" | "decline" | "cancel",
  ): Promise<{ approvals: FileChangeApproval[]; statuses: unknown[]; turn: string; text: string }> {
    let outside = "";
    await using server = await start(
      (request) =>
        request.newOutputs.length === 0
          ? patch(`*** Begin Patch\n*** Add File: ${outside}\n+words\n*** End Patch\n`)
          : say("done"),
      { modelName: "gpt-5.5" },
    );
    outside = join(dirname(server.workspace), "outside.txt");
    const approvals: FileChangeApproval[] = [];
    const client = await BrokerClient.connect(server, {
      fileChangeApproval: (approval) => (approvals.push(approval), decide(approval)),
    });
    const threadId = await client.startThread(server, { sandbox: "workspace-write" });
    // The folder is below the temp folder, which a writable sandbox includes.
    const sandboxPolicy = { type: "readOnly", networkAccess: false } as const;
    const turn = await client.runTurn(threadId, { sandboxPolicy });
    await client.runTurn(threadId, { sandboxPolicy });
    return {
      approvals,
      statuses: client.items.flatMap((item) => (item.type === "fileChange" ? [item.status] : [])),
      turn: turn.status,
      text: await readFile(outside, "utf8").catch(() => ""),
    };
  }

  it("has its diff, and is applied if it is accepted", async () => {
    const seen = await change(() => "accept");
    expect(seen).toMatchObject({ statuses: ["completed", "completed"], turn: "completed", text: "words\n" });
    expect(seen.approvals).toHaveLength(2);
    expect(seen.approvals[0]?.changes).toMatchObject([
      { path: expect.stringContaining("outside.txt"), diff: expect.stringContaining("words") },
    ]);
  });

  it("is not asked about again in the session", async () => {
    const seen = await change(() => "acceptForSession");
    expect(seen.approvals).toHaveLength(1);
    expect(seen.statuses).toEqual(["completed", "completed"]);
  });

  it("is not applied if it is declined", async () => {
    const seen = await change(() => "decline");
    expect(seen).toMatchObject({ statuses: ["declined", "declined"], turn: "completed", text: "" });
  });
});

describe("a request for permissions", () => {
  const ask = callTool(
    "request_permissions",
    {
      reason: "needed",
      permissions: {
        network: { enabled: true },
        file_system: { read: ["/etc"], write: ["/opt/x", "/opt/y"] },
      },
    },
    { callId: "ask" },
  );

  async function granted(approve: (approval: AnyApproval) => never): Promise<unknown> {
    await using server = await start(
      (request) => (request.newOutputs.length === 0 ? ask : say(request.output("ask")?.text ?? "")),
      { config: ["features.request_permissions_tool=true"] },
    );
    const client = await BrokerClient.connect(server, { approve });
    await client.runTurn(await client.startThread(server));
    const reply = client.items.findLast((item) => item.type === "agentMessage");
    return JSON.parse(reply?.text ?? "null");
  }

  it("is granted as a whole", async () => {
    expect(await granted(() => "acceptForSession" as never)).toEqual({
      permissions: {
        network: { enabled: true },
        file_system: { read: ["/etc"], write: ["/opt/x", "/opt/y"] },
      },
      scope: "session",
    });
  });

  it("is granted in part, and never beyond the request", async () => {
    const grant = decisions.grant({ fileSystem: { write: ["/opt/x/deep", "/var", "/etc"] } });
    expect(await granted(() => grant as never)).toEqual({
      permissions: { network: null, file_system: { read: ["/etc"], write: ["/opt/x/deep"] } },
      scope: "turn",
    });
  });

  it("is declined with an empty grant", async () => {
    expect(await granted(() => "decline" as never)).toEqual({
      permissions: { network: null, file_system: null },
      scope: "turn",
    });
  });
});

describe("a codex that uses the client's clock", () => {
  it("reads the time from the client", async () => {
    await using server = await start(
      (request) =>
        request.newOutputs.length === 0
          ? callTool("curr_time", {}, { namespace: "clock", callId: "time" })
          : say(request.output("time")?.text ?? ""),
      {
        config: [
          'features.current_time_reminder={enabled=true,clock_source="external",reminder_interval_seconds=1}',
        ],
      },
    );
    const client = await BrokerClient.connect(server, { currentTime: () => new Date(1000) });
    const threadId = await client.startThread(server);
    expect((await client.runTurn(threadId)).status).toBe("completed");
    expect(client.items.findLast((item) => item.type === "agentMessage")?.text).toContain(
      "1970-01-01 00:00:01",
    );
    client.handlers = {};
    expect((await client.runTurn(threadId)).status).toBe("completed");
    expect(client.events).toEqual([]);
  });
});
