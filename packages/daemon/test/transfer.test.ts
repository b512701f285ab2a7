import { gate, run, say, type Script, usage, waitFor } from "@codexkit/scripted-model";
import type { STORE_KINDS } from "@codexkit/store/testing";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../src/api/event.ts";
import type { DaemonClient } from "../src/client/client.ts";
import { openDatabase } from "../src/database.ts";
import { Staging } from "../src/files/staging.ts";
import { newSessionRow } from "../src/session-store/new-session-row.ts";
import { StagedSession } from "../src/transfer/staged-session.ts";
import { assertGapless, SETTINGS, useDatabases } from "./database-fixture.ts";
import { Receiver } from "./receiver.ts";
import { replyWithMessages } from "./reply-with-messages.ts";
import { runTurn } from "./run-turn.ts";
import { createDaemonHome, type DaemonHome } from "./start-daemon.ts";

const postgres = useDatabases("postgres");
const MESSAGES = ["one", "wrong", "right", "make", "two"];

const recall: Script = (request) => {
  const { newOutputs, lastUserText } = request;
  if (lastUserText === "make" && newOutputs.length === 0) return run("echo made > made");
  if (lastUserText === "print" && newOutputs.length === 0)
    return run("echo secret-of-env; printf secret-of-args");
  return [say(replyWithMessages(request, MESSAGES)), usage({ input: 10, output: 5 })];
};

async function allEvents(client: DaemonClient, sessionId: string): Promise<readonly SessionEvent[]> {
  const page = await client.request("GET /sessions/{sessionId}/events", {
    params: { sessionId },
    query: { limit: 5000 },
  });
  return page.events;
}

async function create(client: DaemonClient, home: DaemonHome): Promise<string> {
  const { session } = await client.createSession({ cwd: home.folders.workspace, name: "moved" });
  return session.id;
}

/** Starts two daemons. Disposing the pair removes their homes, too. */
async function startPair(here: DaemonHome, there: DaemonHome) {
  await using stack = new AsyncDisposableStack();
  stack.use(here);
  stack.use(there);
  const source = stack.use(await here.start());
  const target = stack.use(await there.start());
  const owner = stack.move();
  return { here, there, source, target, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

/** The files of the thread in an exported file. */
function rolloutsOf(file: string): string {
  return file
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string; base64?: string })
    .map(({ base64 = "" }) => Buffer.from(base64, "base64").toString())
    .join("");
}

/** Exports a session. Returns the lines of the file without its end. */
async function exportLines(client: DaemonClient, sessionId: string): Promise<readonly string[]> {
  const file = await text(await client.exportSession(sessionId));
  return file.trimEnd().split("\n").slice(0, -1);
}

/** Returns a file with a valid checksum, like that of an attacker. */
function sealed(lines: readonly string[]): string {
  const body = lines.map((line) => `${line}\n`).join("");
  const sha256 = createHash("sha256").update(body).digest("hex");
  return `${body}${JSON.stringify({ kind: "end", lines: lines.length, sha256 })}\n`;
}

describe.each([
  ["sqlite", "postgres"],
  ["postgres", "sqlite"],
] as const)("a session exported on %s", (from, to) => {
  const stores = { sqlite: useDatabases("sqlite"), postgres: useDatabases("postgres") };
  const home = async (kind: (typeof STORE_KINDS)[number]) =>
    createDaemonHome(recall, { kind, locations: stores[kind].locations });

  test(`continues on ${to}, with its whole history`, async () => {
    await using pair = await startPair(await home(from), await home(to));
    const { here, there, source, target } = pair;
    const sessionId = await create(source.client, here);
    await runTurn(source.client, sessionId, "one");
    await runTurn(source.client, sessionId, "make");
    const file = await source.client.exportSession(sessionId);
    const { session: imported } = await target.client.importSession(file, { cwd: there.folders.workspace });
    expect(imported).toMatchObject({ name: "moved", phase: "idle", cwd: there.folders.workspace });

    const before = await allEvents(source.client, sessionId);
    const after = await allEvents(target.client, imported.id);
    assertGapless(after);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.at(-1)).toMatchObject({ type: "session.moved" });
    const items = (client: DaemonClient, id: string) =>
      client.request("GET /sessions/{sessionId}/items", { params: { sessionId: id } });
    expect(await items(target.client, imported.id)).toEqual(await items(source.client, sessionId));

    expect(await runTurn(target.client, imported.id, "two")).toBe("heard: one, make, two");
    assertGapless(await allEvents(target.client, imported.id));
  });

  test(`that was forked and reverted continues on ${to}`, async () => {
    await using pair = await startPair(await home(from), await home(to));
    const { here, there, source, target } = pair;
    const { client } = source;
    const original = await create(client, here);
    await runTurn(client, original, "one");
    const forked = await client.request("POST /sessions/{sessionId}/fork", {
      params: { sessionId: original },
      query: { wait: 20_000 },
      body: {},
    });
    const sessionId = String(forked.result?.["sessionId"]);
    await runTurn(client, sessionId, "wrong");
    const turns = await client.request("GET /sessions/{sessionId}/turns", { params: { sessionId } });
    await client.request("POST /sessions/{sessionId}/revert", {
      params: { sessionId },
      query: { wait: 20_000 },
      body: { beforeTurnId: turns.data[0]?.id ?? "" },
    });
    await runTurn(client, sessionId, "right");
    const file = await client.exportSession(sessionId);
    const { session: imported } = await target.client.importSession(file, { cwd: there.folders.workspace });
    expect(await runTurn(target.client, imported.id, "two")).toBe("heard: one, right, two");
  });
});

test("a second daemon with the same name, which can't start, leaves running imports and uploads alone", async () => {
  await using here = await createDaemonHome(recall, { kind: "postgres", locations: postgres.locations });
  await using _first = await here.start();
  await using database = await openDatabase(here.options.store ?? "");
  await using staged = await StagedSession.begin(database, {
    threadId: "thread",
    nodeName: "here",
    maxSessions: 100,
  });
  await using upload = await new Staging(join(here.stateFolder, "staging")).spool(
    Readable.from([Buffer.from("half")]),
    100,
  );
  await expect(here.start()).rejects.toMatchObject({ code: "bad_options" });
  expect(await readFile(upload.path, "utf8")).toBe("half");
  await staged.publish({
    row: newSessionRow({ cwd: "/", settings: SETTINGS, isReady: false }, database.store.now),
    events: [],
    audit: { by: "tester", action: "session.imported" },
  });
});

describe("an exported file", () => {
  const databases = useDatabases("sqlite");
  const home = async () => createDaemonHome(recall, { kind: "sqlite", locations: databases.locations });

  test("has no secrets of the session", async () => {
    await using here = await home();
    await using source = await here.start();
    const { session } = await source.client.createSession(
      {
        cwd: here.folders.workspace,
        mcpServers: {
          open: { command: "true" },
          closed: { command: "true", env: { KEY: "secret-of-env" } },
          arguments: { command: "true", args: ["--token", "secret-of-args"] },
          remote: { url: "http://127.0.0.1:1", headers: { authorization: "secret-of-header" } },
          queried: { url: "http://127.0.0.1:1/?key=secret-of-query" },
        },
        tools: [
          {
            name: "weather",
            description: "Tells the weather",
            inputSchema: { type: "object", properties: {} },
            url: "https://example.com",
            secret: `whsec_${Buffer.from("secret-of-tool-which-is-long").toString("base64")}`,
          },
        ],
      },
      { wait: 20_000 },
    );
    await runTurn(source.client, session.id, "print");
    const file = await text(await source.client.exportSession(session.id));
    expect(file).toContain('"open"');
    expect(file).not.toContain("secret-of");
    const rollout = rolloutsOf(file);
    expect(rollout).toContain("echo *");
    // The model's own call names the secrets, too.
    expect(rollout).not.toContain("secret-of");
    expect(file).not.toContain(Buffer.from("secret-of-tool-which-is-long").toString("base64"));
  });

  test("is refused without a trace if it is damaged or has a thread of this daemon", async () => {
    await using pair = await startPair(await home(), await home());
    const { here, there, source, target } = pair;
    const sessionId = await create(source.client, here);
    await runTurn(source.client, sessionId, "one");
    const file = await text(await source.client.exportSession(sessionId));
    const lines = file.trimEnd().split("\n");
    const cwd = there.folders.workspace;
    const importLines = async (content: string) =>
      target.client.importSession(new Blob([content]), { cwd }).then(
        () => undefined,
        (error: unknown) => error,
      );
    const content = lines.slice(0, -1);
    const event = content.findIndex((line) => line.startsWith('{"kind":"event"'));
    const bad: Record<string, string> = {
      nothing: "",
      "not JSON": "hello",
      "another kind of file": '{"kind":"other"}\n',
      "a missing end": content.join("\n"),
      "a missing line": [...lines.slice(0, 3), ...lines.slice(4)].join("\n"),
      "something after its end": `${file}{}\n`,
      "a missing event": sealed(content.toSpliced(event, 1)),
      "an event twice": sealed(content.toSpliced(event, 0, content[event] ?? "")),
      "a path out of the Codex home": sealed(
        content.map((line) => line.replace(/"path":"sessions/, '"path":"../../sessions')),
      ),
      "another path": sealed(content.map((line) => line.replace(/"path":"[^"]+"/, '"path":"config.toml"'))),
      "a newer Codex": sealed(
        content.map((line) => line.replace(/"codexVersion":"[^"]+"/, '"codexVersion":"99.0.0"')),
      ),
      "a rollout that is too short": sealed(content.slice(0, -1)),
      "an unknown member": sealed([content[0]?.replace("{", '{"more":1,') ?? "", ...content.slice(1)]),
    };
    const codes: Record<string, unknown> = {};
    for (const [what, changed] of Object.entries(bad)) {
      codes[what] = ((await importLines(changed)) as { code?: string } | undefined)?.code;
    }
    expect(codes).toEqual(Object.fromEntries(Object.keys(bad).map((what) => [what, "unprocessable"])));
    const { data } = await target.client.request("GET /sessions", {});
    expect(data).toEqual([]);

    expect(await importLines(file)).toBeUndefined();
    expect(await importLines(file)).toMatchObject({ code: "thread_in_use" });
    expect(
      await source.client.importSession(new Blob([file])).catch((error: unknown) => error),
    ).toMatchObject({ code: "thread_in_use" });
  });

  test("has tools only if it is trusted, and only those that a new session could have", async () => {
    await using pair = await startPair(await home(), await home());
    const { here, there, source, target } = pair;
    const sessionId = await create(source.client, here);
    await runTurn(source.client, sessionId, "one");
    const lines = await exportLines(source.client, sessionId);
    const withTool = (url: string): Blob => {
      const first = JSON.parse(lines[0] ?? "") as { session: { setup: object } };
      const secret = `whsec_${"a".repeat(32)}`;
      const tool = { name: "report", description: "Reports", inputSchema: { type: "object" }, url, secret };
      first.session.setup = { tools: [tool] };
      return new Blob([sealed([JSON.stringify(first), ...lines.slice(1)])]);
    };
    const cwd = there.folders.workspace;
    const secretly = target.client.importSession(withTool("http://127.0.0.1:1/"), { cwd, trust: true });
    await expect(secretly).rejects.toMatchObject({ code: "unprocessable" });
    const { session, leftOut } = await target.client.importSession(withTool("http://127.0.0.1:1/"), { cwd });
    expect(leftOut).toMatchObject({ tools: ["report"] });
    expect((await allEvents(target.client, session.id)).at(-1)).toMatchObject({
      type: "warning",
      message: "Parts of the file were not imported: the tools report.",
    });
  });

  test("whose thread Codex can't resume becomes a failed session, which can be exported again", async () => {
    await using here = await home();
    await using there = await home();
    await using hook = await Receiver.start();
    await using source = await here.start();
    await using target = await there.start({ allowPrivateAddresses: true });
    const sessionId = await create(source.client, here);
    await runTurn(source.client, sessionId, "one");
    const lines = await exportLines(source.client, sessionId);
    const broken = lines.map((line) => {
      const { kind, base64 = "" } = JSON.parse(line) as { kind: string; base64?: string };
      if (kind !== "data") return line;
      const data = Buffer.from(base64, "base64")
        .toString()
        .replaceAll('"type":"session_meta"', '"type":"session_mate"');
      return JSON.stringify({ kind, base64: Buffer.from(data).toString("base64") });
    });
    const { client } = target;
    const file = new Blob([sealed(broken)]);
    const { session } = await client.importSession(file, { cwd: there.folders.workspace });
    await client.request("POST /webhooks", { body: { url: hook.url, events: ["session.failed"] } });
    const sent = await client.send(session.id, "two", { wait: 20_000 });
    expect(sent.problem).toMatchObject({ type: "codex_failed" });
    const params = { sessionId: session.id };
    expect(await client.request("GET /sessions/{sessionId}", { params })).toMatchObject({
      phase: "failed",
      problem: { type: "codex_failed" },
    });
    const changes = (await allEvents(client, session.id)).filter(({ type }) => type === "session.updated");
    expect(changes.at(-1)).toMatchObject({ changes: { phase: "failed", problem: { type: "codex_failed" } } });
    const [received] = await hook.waitFor(1);
    expect(JSON.parse(received?.body ?? "")).toMatchObject({ type: "session.failed" });
    expect(rolloutsOf(await text(await client.exportSession(session.id)))).toContain("session_mate");
  });

  test("is not created during a turn", async () => {
    const open = gate();
    const script: Script = () => say(["half ", waitFor(open), "done"]);
    await using here = await createDaemonHome(script, { kind: "sqlite", locations: databases.locations });
    await using source = await here.start();
    const sessionId = await create(source.client, here);
    const turn = runTurn(source.client, sessionId, "one");
    for await (const event of source.client.sessionEvents(sessionId)) if (event.type === "item.delta") break;
    await expect(source.client.exportSession(sessionId)).rejects.toMatchObject({ code: "turn_running" });
    open.open();
    await turn;
  });

  test("is not imported into a folder outside the roots, and restores a deleted session", async () => {
    await using here = await home();
    await using source = await here.start();
    const sessionId = await create(source.client, here);
    await runTurn(source.client, sessionId, "one");
    const file = await text(await source.client.exportSession(sessionId));
    const outside = source.client.importSession(new Blob([file]), { cwd: "/" });
    await expect(outside).rejects.toMatchObject({ code: "path_not_allowed" });
    await source.client.request("DELETE /sessions/{sessionId}", {
      params: { sessionId },
      query: { wait: 20_000 },
    });
    await expect(source.client.exportSession(sessionId)).rejects.toMatchObject({ code: "session_deleted" });
    const { session: again } = await source.client.importSession(new Blob([file]));
    expect(await runTurn(source.client, again.id, "two")).toBe("heard: one, two");
  });
});
