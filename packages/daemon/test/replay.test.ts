import { run, say, type Script, usage } from "@codexkit/scripted-model";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Route } from "../src/api/route.ts";
import { routes } from "../src/api/routes/index.ts";
import { DaemonClient } from "../src/client/client.ts";
import { createDaemon } from "../src/create-daemon.ts";
import type { DaemonOptions } from "../src/daemon-options.ts";
import type { SessionEvent } from "../src/api/event.ts";
import { useDatabases } from "./database-fixture.ts";
import { createDaemonHome, type DaemonHome } from "./start-daemon.ts";

const script: Script = ({ newOutputs, lastUserText }) =>
  newOutputs.length === 0
    ? run("echo made > made", { callId: "call", escalate: "It writes." })
    : [say(`did ${lastUserText}`), usage({ input: 10, output: 5 })];

/** Everything that a client can read of a session. */
async function readAll(client: DaemonClient, sessionId: string) {
  const params = { sessionId };
  return {
    events: await client.request("GET /sessions/{sessionId}/events", { params, query: { limit: 1000 } }),
    items: await client.request("GET /sessions/{sessionId}/items", { params }),
    turns: await client.request("GET /sessions/{sessionId}/turns", { params }),
    diff: await client.request("GET /sessions/{sessionId}/diff", { params }),
    usage: await client.request("GET /sessions/{sessionId}/usage", { params }),
    inbox: await client.request("GET /inbox", { query: { sessionId } }),
    exported: (await text(await client.exportSession(sessionId))).split("\n").slice(1, -2),
  };
}

const replayFolders = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith("codexkit-replay-"));

describe("a replayed session", () => {
  const databases = useDatabases("sqlite");
  let home: DaemonHome;
  let file: string;
  let sessionId: string;
  let original: Awaited<ReturnType<typeof readAll>>;

  beforeAll(async () => {
    home = await createDaemonHome(script, { kind: "sqlite", locations: databases.locations });
    await using started = await home.start();
    const { client } = started;
    const { session } = await client.createSession({ cwd: home.folders.workspace }, { wait: 20_000 });
    sessionId = session.id;
    await client.send(sessionId, "it");
    const signal = AbortSignal.timeout(25_000);
    for await (const event of client.sessionEvents(sessionId, { signal })) {
      if (event.type === "inbox.opened") {
        await client.answer(event.approvalId, { type: "decision", offer: "accept" });
      }
      if (event.type === "turn.completed") break;
    }
    original = await readAll(client, sessionId);
    file = join(home.folders.root, "session.jsonl");
    await writeFile(file, await text(await client.exportSession(sessionId)));
  });
  afterAll(() => home[Symbol.asyncDispose]());

  const options = (): DaemonOptions => ({
    replay: file,
    auth: "none",
    logger: "silent",
    codex: { codexPath: "/nonexistent/codex" },
  });

  test("is read like the original: events, items, turns, diff, usage, inbox, stream and export", async () => {
    await using daemon = await createDaemon(options());
    const client = new DaemonClient({ url: await daemon.listen() });
    const { data } = await client.request("GET /sessions");
    expect(data.map(({ id, phase }) => [id, phase])).toEqual([[sessionId, "idle"]]);
    expect(await readAll(client, sessionId)).toEqual(original);
    const streamed: SessionEvent[] = [];
    for await (const event of client.sessionEvents(sessionId)) {
      streamed.push(event);
      if (event.seq === original.events.lastSeq) break;
    }
    expect(streamed).toEqual(original.events.events);
    const frames: string[] = [];
    for await (const frame of client.events({ watch: { [sessionId]: 0 } })) {
      frames.push(frame.type);
      if (frame.type === "event" && frame.event.seq === original.events.lastSeq) break;
    }
    expect(frames).toContain("synced");
    expect(await client.request("GET /ready")).toMatchObject({ ready: true });
    const files = client.files(sessionId).list();
    await expect(files).rejects.toMatchObject({ code: "files_unavailable" });
  });

  test("refuses all commands, and starts no codex", async () => {
    await using daemon = await createDaemon(options());
    const mutations = Object.entries(routes as Record<string, Route>).filter(
      ([key, { scope }]) => !key.startsWith("GET ") && scope !== null && scope !== "read",
    );
    expect(mutations.length).toBeGreaterThan(20);
    const answers: Record<string, string> = {};
    for (const [key] of mutations) {
      const [method = "", path = ""] = key.split(" ");
      const url = `http://localhost${path.replaceAll(/\{\w+\}/g, sessionId)}`;
      const response = await daemon.fetch(new Request(url, { method, headers: { host: "localhost" } }));
      answers[key] = `${response.status} ${((await response.json()) as { type: string }).type}`;
    }
    expect(answers).toEqual(Object.fromEntries(mutations.map(([key]) => [key, "403 read_only"])));
    const models = await daemon.fetch(
      new Request("http://localhost/models", { headers: { host: "localhost" } }),
    );
    expect(models.status).toBe(403);
  });

  test("leaves no folder behind, also if the file is invalid", async () => {
    const before = replayFolders();
    const daemon = await createDaemon(options());
    expect(replayFolders()).toHaveLength(before.length + 1);
    await daemon.close();
    await writeFile(`${file}.broken`, "{}\n");
    execFileSync("mkfifo", [`${file}.pipe`]);
    for (const replay of [`${file}.broken`, `${file}.missing`, `${file}.pipe`, home.folders.root]) {
      await expect(createDaemon({ ...options(), replay })).rejects.toMatchObject({ code: "bad_options" });
    }
    await expect(createDaemon({ ...options(), stateFolder: home.stateFolder })).rejects.toMatchObject({
      code: "bad_options",
    });
    expect(replayFolders()).toEqual(before);
  });
});
