import { say, type Script } from "@codexkit/scripted-model";
import { Buffer } from "node:buffer";
import { mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Database, openDatabase } from "../src/database.ts";
import { entityTag } from "../src/files/entity-tag.ts";
import { Staging } from "../src/files/staging.ts";
import { useDatabases } from "./database-fixture.ts";
import { createDaemonHome } from "./start-daemon.ts";

const databases = useDatabases("sqlite");
const createHome = async (model: Script) =>
  createDaemonHome(model, { kind: "sqlite", locations: databases.locations });

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("Codex receives an uploaded image, and its search finds only files inside the roots", async () => {
  let images: string[] = [];
  await using home = await createHome(({ input }) => {
    images = JSON.stringify(input).match(/data:image\/png;base64,[A-Za-z0-9+/=]+/g) ?? [];
    return say("Seen.");
  });
  await using started = await home.start();
  const { client } = started;
  const { workspace } = home.folders;
  const { session } = await client.createSession({ cwd: workspace }, { wait: 20_000 });
  const files = client.files(session.id);

  const image = await files.uploadImage(new Blob([PNG]));
  const input = [
    { type: "text", text: "Look" },
    { type: "uploadedImage", imageId: image.id },
  ] as const;
  const sent = await client.send(session.id, [...input], { wait: 20_000 });
  expect(sent.problem).toBeNull();
  for await (const event of client.sessionEvents(session.id, { signal: AbortSignal.timeout(20_000) })) {
    if (event.type === "turn.completed") break;
  }
  expect(images).toHaveLength(1);

  await mkdir(join(workspace, "source"));
  await writeFile(join(workspace, "source", "needle-in.ts"), "");
  await mkdir(join(home.folders.root, "elsewhere"));
  await writeFile(join(home.folders.root, "elsewhere", "needle-out.ts"), "");
  await symlink(join(home.folders.root, "elsewhere"), join(workspace, "link"));
  const found = await files.search("needl");
  expect(found.map(({ path, type }) => [path, type])).toEqual([["source/needle-in.ts", "file"]]);
}, 60_000);

/** Stores a write as the HTTP handler does. */
async function submitWrite(
  { commands }: Database,
  staging: Staging,
  sessionId: string,
  write: { readonly path: string; readonly text: string; readonly ifMatch?: string },
): Promise<string> {
  const { path, text, ifMatch } = write;
  const key = `write-${path}`;
  const body = (async function* () {
    yield Buffer.from(text);
  })();
  const content = await staging.add(body, { sessionId, key, maxBytes: 1000 });
  const command = { path, ...content, ...(ifMatch !== undefined && { ifMatch }) };
  return (await commands.submit({ sessionId, key, kind: "writeFile", body: command, by: "test" })).command.id;
}

test("a write survives a kill of the daemon at any moment, and is executed once", async () => {
  await using home = await createHome(() => say("Hello."));
  const { workspace } = home.folders;
  let sessionId: string;
  {
    await using started = await home.start();
    const { session } = await started.client.createSession({ cwd: workspace }, { wait: 20_000 });
    sessionId = session.id;
    await started.client.files(sessionId).write("first", "1");
    expect(await readFile(join(workspace, "first"), "utf8")).toBe("1");
  }
  const stagingFolder = join(await realpath(home.stateFolder), "staging");
  const staging = new Staging(stagingFolder);
  const file = join(workspace, "replaced");
  await writeFile(file, "old");
  const ifMatch = entityTag(await stat(file, { bigint: true }));
  let accepted: string;
  let inPlace: string;
  {
    await using database = await openDatabase(join(home.stateFolder, "store"));
    accepted = await submitWrite(database, staging, sessionId, { path: "accepted", text: "2" });
    // Killed after the file was replaced, before the result was stored.
    inPlace = await submitWrite(database, staging, sessionId, { path: "replaced", text: "new", ifMatch });
    await database.store.db
      .updateTable("command")
      .set({ started_epoch: 1 })
      .where("id", "=", inPlace)
      .execute();
    await writeFile(file, "new");
    await writeFile(join(stagingFolder, "unfinished.part"), "");
  }
  await using started = await home.start();
  const outcome = async (commandId: string) =>
    started.client.request("GET /sessions/{sessionId}/commands/{commandId}", {
      params: { sessionId, commandId },
      query: { wait: 20_000 },
    });
  expect(await outcome(accepted)).toMatchObject({ state: "done", result: { bytes: 1 } });
  expect(await outcome(inPlace)).toMatchObject({ state: "done", result: { bytes: 3, recovered: true } });
  expect(await readFile(join(workspace, "accepted"), "utf8")).toBe("2");
  expect(await readFile(file, "utf8")).toBe("new");
  await started.client.files(sessionId).write("last", "3");
  expect(await readdir(stagingFolder)).toEqual([]);
}, 60_000);
