import { gate, run, say, type Script, usage, waitFor } from "@codexkit/scripted-model";
import { STORE_KINDS } from "@codexkit/store/testing";
import { findCodex } from "@codexkit/testing";
import { Codex } from "codexkit";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ThreadFrame } from "../src/api/thread.ts";
import type { DaemonClient } from "../src/client/client.ts";
import { assertGapless, useDatabases } from "./database-fixture.ts";
import { Receiver } from "./receiver.ts";
import { replyWithMessages } from "./reply-with-messages.ts";
import { runTurn } from "./run-turn.ts";
import { createDaemonHome, type DaemonHome } from "./start-daemon.ts";

const MESSAGES = ["one", "two", "three", "instead", "more"];
const hold = gate();

const recall: Script = (request) => {
  const { newOutputs, lastUserText } = request;
  if (lastUserText === "held") return say(["half ", waitFor(hold), "whole"]);
  if (lastUserText === "two" && newOutputs.length === 0) return run("echo made > made");
  return [say(replyWithMessages(request, MESSAGES)), usage({ input: 10, output: 5 })];
};

/** Runs `codex exec` in the user's Codex home. Resolves when it has exited. */
async function exec({ folders }: DaemonHome, ...args: string[]): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const options = { env: folders.env as NodeJS.ProcessEnv, cwd: folders.workspace };
    const child = execFile(
      findCodex().path,
      ["exec", "--skip-git-repo-check", "-s", "workspace-write", ...args],
      options,
      (error) => (error ? reject(error) : resolve()),
    );
    child.stdin?.end();
  });
}

async function fingerprintOf(folder: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.parentPath + a.name < b.parentPath + b.name ? -1 : 1))) {
    const path = join(entry.parentPath, entry.name);
    hash.update(path);
    if (entry.isFile()) hash.update(await readFile(path));
  }
  return hash.digest("hex");
}

/** Reads frames until one matches. The stream stays open. */
async function readUntil(
  frames: AsyncGenerator<ThreadFrame>,
  isLast: (frame: ThreadFrame) => boolean,
): Promise<ThreadFrame[]> {
  const seen: ThreadFrame[] = [];
  for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
    seen.push(next.value);
    if (isLast(next.value)) return seen;
  }
  throw new Error(`The stream ended: ${seen.map(({ type }) => type).join()}`);
}

const titles = async (client: DaemonClient, sessionId: string) => {
  const { data } = await client.request("GET /sessions/{sessionId}/turns", { params: { sessionId } });
  return data.map(({ title, status }) => [title, status]);
};

describe.each(STORE_KINDS)("threads of the Codex CLI on %s", (kind) => {
  const databases = useDatabases(kind);

  test("are listed, read, imported and forked without changes to the user's Codex home", async () => {
    await using home = await createDaemonHome(recall, { kind, locations: databases.locations });
    await exec(home, "one");
    await exec(home, "resume", "--last", "two");
    const cliHome = home.folders.codexHome;
    const before = await fingerprintOf(cliHome);
    await using started = await home.start({ cliHome });
    const { client } = started;
    const { data } = await client.threads.list({ search: "heard: one, two" });
    expect(data).toMatchObject([
      { preview: "one", source: "exec", cwd: home.folders.workspace, sessionId: null },
    ]);
    const threadId = data[0]?.id ?? "";
    expect(await client.threads.get(threadId)).toMatchObject({ holder: null });
    const items = await client.threads.items(threadId);
    expect(items.data.map(({ item }) => item["type"])).toEqual([
      "agentMessage",
      "commandExecution",
      "userMessage",
      "agentMessage",
      "userMessage",
    ]);
    const firstTurn = items.data.at(-1)?.turnId ?? "";

    const imported = await client.threads.import(threadId, { name: "from the CLI" }, { wait: 20_000 });
    expect(imported.command).toMatchObject({ state: "done", problem: null });
    const { id } = imported.session;
    const stored = await client.request("GET /sessions/{sessionId}/items", { params: { sessionId: id } });
    expect(stored.data.map(({ id: itemId }) => itemId)).toEqual(items.data.map(({ item }) => item["id"]));
    expect(await titles(client, id)).toEqual([
      ["two", "completed"],
      ["one", "completed"],
    ]);
    expect(await runTurn(client, id, "three")).toBe("heard: one, two, three");
    await expect(client.threads.import(threadId)).rejects.toMatchObject({
      code: "thread_in_use",
      problem: { sessionId: id },
    });
    expect((await client.threads.list()).data[0]?.sessionId).toBe(id);

    const forked = await client.threads.fork(
      threadId,
      { lastTurnId: firstTurn },
      { wait: 20_000, idempotencyKey: "fork" },
    );
    expect(forked.session.threadId).not.toBe(threadId);
    expect(await runTurn(client, forked.session.id, "instead")).toBe("heard: one, instead");
    expect(await titles(client, forked.session.id)).toEqual([
      ["instead", "completed"],
      ["one", "completed"],
    ]);
    const again = await client.threads.fork(threadId, { lastTurnId: firstTurn }, { idempotencyKey: "fork" });
    expect(again.session.id).toBe(forked.session.id);
    await expect(client.threads.fork(threadId, {}, { idempotencyKey: "fork" })).rejects.toMatchObject({
      code: "key_reused",
    });
    await expect(client.threads.fork(threadId, { lastTurnId: "x" })).rejects.toMatchObject({
      code: "unprocessable",
    });
    const page = await client.request("GET /sessions/{sessionId}/events", {
      params: { sessionId: id },
      query: { limit: 1000 },
    });
    assertGapless(page.events);
    expect(await fingerprintOf(cliHome)).toBe(before);
  });
});

describe("threads of the Codex CLI", () => {
  const databases = useDatabases("sqlite");
  const createHome = async () => createDaemonHome(recall, { kind: "sqlite", locations: databases.locations });

  test("are followed while the CLI works on them, and forked, but not imported", async () => {
    await using home = await createHome();
    await exec(home, "one");
    const running = exec(home, "resume", "--last", "held");
    await using started = await home.start({ cliHome: home.folders.codexHome });
    const { threads } = started.client;
    await home.folders.model.findRequest(({ lastUserText }) => lastUserText === "held");
    const threadId = (await threads.list()).data[0]?.id ?? "";
    const frames = threads.follow(threadId, { signal: AbortSignal.timeout(25_000) });
    const before = await readUntil(frames, ({ type }) => type === "following");
    expect(before.at(-1)).toMatchObject({ isLocked: true });
    expect(await threads.get(threadId)).toMatchObject({ holder: { pid: expect.any(Number) as number } });
    await expect(threads.import(threadId)).rejects.toMatchObject({ code: "writer_locked" });
    const { command, session } = await threads.fork(threadId, {}, { wait: 20_000 });
    expect(command.problem).toBeNull();
    expect(await titles(started.client, session.id)).toEqual([["one", "completed"]]);
    hold.open();
    const after = await readUntil(frames, ({ type }) => type === "turn.completed");
    await frames.return(undefined);
    expect(before.map(({ type }) => type).join()).toBe(
      "turn.started,item.completed,item.completed,turn.completed,turn.started,item.completed,following",
    );
    expect(after).toMatchObject([
      { type: "item.completed", item: { type: "agentMessage", text: "half whole" } },
      { type: "turn.completed" },
    ]);
    await running;
  });

  test("cause no messages to webhooks for turns that they had before, and neither do forks of sessions", async () => {
    await using home = await createHome();
    await exec(home, "one");
    await exec(home, "resume", "--last", "two");
    await using receiver = await Receiver.start();
    await using started = await home.start({
      cliHome: home.folders.codexHome,
      allowPrivateAddresses: true,
    });
    const { client } = started;
    const { webhook } = await client.request("POST /webhooks", {
      body: { url: receiver.url, events: ["turn.ended"] },
    });
    const threadId = (await client.threads.list()).data[0]?.id ?? "";
    const { session } = await client.threads.import(threadId, {}, { wait: 20_000 });
    const params = { sessionId: session.id };
    await client.request("POST /sessions/{sessionId}/fork", { params, query: { wait: 20_000 }, body: {} });
    expect(await runTurn(client, session.id, "three")).toBe("heard: one, two, three");
    await receiver.waitFor(1);
    const deliveries = await client.request("GET /webhooks/{webhookId}/deliveries", {
      params: { webhookId: webhook.id },
    });
    const turns = await client.request("GET /sessions/{sessionId}/turns", { params });
    expect(turns.data).toHaveLength(3);
    expect(deliveries.data).toMatchObject([{ sessionId: session.id }]);
  });

  test("that were forked and reverted are imported and forked with their whole history", async () => {
    await using home = await createHome();
    const { folders } = home;
    let ids: { base: string; fork: string };
    {
      await using codex = await Codex.launch({
        codexHome: folders.codexHome,
        env: folders.env,
        inheritEnv: false,
      });
      const base = await codex.startThread({ cwd: folders.workspace });
      await base.run("one");
      const { turnId } = await base.run("two");
      const fork = await base.fork();
      await base.revert(turnId);
      await base.run("instead");
      await fork.run("three");
      ids = { base: base.id, fork: fork.id };
    }
    await using started = await home.start({ cliHome: folders.codexHome });
    const { client } = started;
    expect((await client.threads.list()).data.map(({ id }) => id).toSorted()).toEqual(
      [ids.base, ids.fork].toSorted(),
    );
    const base = await client.threads.import(ids.base, {}, { wait: 20_000 });
    expect(await runTurn(client, base.session.id, "more")).toBe("heard: one, instead, more");
    const fork = await client.threads.import(ids.fork, {}, { wait: 20_000 });
    expect(await runTurn(client, fork.session.id, "more")).toBe("heard: one, two, three, more");
    const copy = await client.threads.fork(ids.fork, {}, { wait: 20_000 });
    expect(await runTurn(client, copy.session.id, "more")).toBe("heard: one, two, three, more");
    expect((await titles(client, copy.session.id)).map(([title]) => title)).toEqual([
      "more",
      "three",
      "two",
      "one",
    ]);
  });

  test("with hundreds of turns are imported with all of them, oldest first", async () => {
    await using home = await createHome();
    await exec(home, "one");
    const { codexHome } = home.folders;
    const files = await readdir(join(codexHome, "sessions"), { recursive: true });
    const path = join(codexHome, "sessions", files.find((file) => file.endsWith(".jsonl")) ?? "");
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    const turnId = /"turn_id":"([^"]+)"/.exec(lines[1] ?? "")?.[1] ?? "";
    const repeated = lines.slice(1).filter((line) => line.includes('"event_msg"') && line.includes(turnId));
    const more = Array.from({ length: 449 }, (_, index) => {
      const number = String(index + 1).padStart(4, "0");
      return repeated.map((line) =>
        line
          .replaceAll(turnId, `${turnId.slice(0, -8)}0000${number}`) // Eight digits, so that none equals the original ID.
          .replace(/"item":\{"type":"(\w+)","id":"[^"]+"/, `"item":{"type":"$1","id":"$1-${number}"`)
          .replace('"text":"one"', `"text":"message ${number}"`),
      );
    });
    const renumbered = [...lines, ...more.flat()].map((line, ordinal) =>
      line.replace(/"ordinal":\d+/, `"ordinal":${ordinal}`),
    );
    await writeFile(path, `${renumbered.join("\n")}\n`);
    await using started = await home.start({ cliHome: codexHome });
    const { client } = started;
    const threadId = (await client.threads.list()).data[0]?.id ?? "";
    const { session, command } = await client.threads.import(threadId, {}, { wait: 30_000 });
    expect(command.problem).toBeNull();
    const { data } = await client.request("GET /sessions/{sessionId}/turns", {
      params: { sessionId: session.id },
      query: { limit: 500 },
    });
    const found = data.map(({ title }) => title);
    expect(found).toHaveLength(450);
    expect(found.at(0)).toBe("message 0449");
    expect(found.at(-1)).toBe("one");
    expect(found.toReversed().slice(1)).toEqual(found.toReversed().slice(1).toSorted());
  });

  test("of folders outside the roots are not served, and no threads are served if the option is off", async () => {
    await using home = await createHome();
    await exec(home, "one");
    const outside = join(home.folders.root, "temp");
    {
      await using started = await home.start({ cliHome: home.folders.codexHome, roots: [outside] });
      expect((await started.client.threads.list()).data).toEqual([]);
    }
    await using started = await home.start({ cliHome: false });
    await expect(started.client.threads.list()).rejects.toMatchObject({ code: "threads_unavailable" });
  });
});
