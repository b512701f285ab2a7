// A helper for file operations serves many of them. None may be answered by a sandbox that was set up for a file system
// that is no longer there.
import { access, link, mkdir, readdir, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { cuttableProxy } from "./cuttable-proxy.ts";
import { RawClient } from "./raw-client.ts";
import { deny, sandboxFixture } from "./sandbox-fixture.ts";

const SECRET = "top-secret";
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

type Fixture = Awaited<ReturnType<typeof sandboxFixture>>;

/** Every way in which a file comes to be where a denied one is expected. */
const APPEARANCES: [string, (it: Fixture) => Promise<void>][] = [
  ["is created", (it) => it.put("ws/.env")],
  [
    "is renamed into place",
    async (it) => {
      await it.put("ws/plain");
      await rename(it.at("ws/plain"), it.at("ws/.env"));
    },
  ],
  [
    "is replaced by a rename",
    async (it) => {
      await it.put("ws/.env", "old");
      await it.client.files.write(it.at("ws/other"), "x", { sandbox: denied(it) });
      await it.put("ws/plain");
      await rename(it.at("ws/plain"), it.at("ws/.env"));
    },
  ],
  [
    "is deleted and created again",
    async (it) => {
      await it.put("ws/.env", "old");
      await it.client.files.write(it.at("ws/other"), "x", { sandbox: denied(it) });
      await unlink(it.at("ws/.env"));
      await it.put("ws/.env");
    },
  ],
  [
    "is deleted and comes back through a hard link",
    async (it) => {
      await it.put("ws/.env");
      await it.client.files.write(it.at("ws/other"), "x", { sandbox: denied(it) });
      await link(it.at("ws/.env"), it.at("kept"));
      await unlink(it.at("ws/.env"));
      await rename(it.at("kept"), it.at("ws/.env"));
    },
  ],
  [
    "comes with a folder that is renamed",
    async (it) => {
      await it.put("elsewhere/.env");
      await rename(it.at("elsewhere"), it.at("ws/.env.d"));
      await rename(it.at("ws/.env.d/.env"), it.at("ws/.env"));
    },
  ],
];

const denied = (it: Fixture) =>
  it.workspaceWrite([deny("codex-project-roots://**/.env"), it.path("ws/secret", "deny")]);

test.each(APPEARANCES)("a denied file that %s is not read by a helper from before", async (_how, appear) => {
  await using it = await sandboxFixture();
  const { files } = it.client;
  await files.write(it.at("ws/file"), "x", { sandbox: denied(it) });
  await appear(it);
  await expect(files.read(it.at("ws/.env"), { sandbox: denied(it) })).rejects.toMatchObject({
    rpcCode: -32600,
  });
  await expect(files.copy(it.at("ws/.env"), it.at("ws/copy"), { sandbox: denied(it) })).rejects.toMatchObject(
    {
      rpcCode: -32600,
    },
  );
  expect(await readFile(it.at("ws/.env"), "utf8")).toBe(SECRET);
});

test("a missing path that is created as a file or a folder is denied from then on", async () => {
  await using it = await sandboxFixture();
  const { files } = it.client;
  await files.write(it.at("ws/file"), "x", { sandbox: denied(it) });
  await it.put("ws/secret");
  await expect(files.read(it.at("ws/secret"), { sandbox: denied(it) })).rejects.toMatchObject({
    rpcCode: -32600,
  });
  await unlink(it.at("ws/secret"));
  await it.put("ws/secret/deep");
  await expect(files.read(it.at("ws/secret/deep"), { sandbox: denied(it) })).rejects.toMatchObject({
    rpcCode: -32600,
  });
});

test("a .git that is created, removed and created again stays protected", async () => {
  await using it = await sandboxFixture();
  const { files } = it.client;
  const sandbox = it.workspaceWrite();
  const attempt = () => files.write(it.at("ws/.git/config"), "x", { sandbox });
  const refused = expect.objectContaining({ rpcCode: -32603 });
  await expect(attempt()).rejects.toEqual(refused);
  for (let round = 0; round < 3; round += 1) {
    await mkdir(it.at("ws/.git"));
    await expect(attempt()).rejects.toEqual(refused);
    await rm(it.at("ws/.git"), { recursive: true });
    await expect(attempt()).rejects.toEqual(refused);
  }
  expect(await exists(it.at("ws/.git"))).toBe(false);
});

test("a workspace that is removed and made again is written, and protected, as a new one", async () => {
  await using it = await sandboxFixture();
  const { files } = it.client;
  const sandbox = it.workspaceWrite();
  for (let round = 0; round < 3; round += 1) {
    await mkdir(it.at("ws/.git"), { recursive: true });
    await files.write(it.at("ws/file"), String(round), { sandbox });
    expect(await readFile(it.at("ws/file"), "utf8")).toBe(String(round));
    await expect(files.write(it.at("ws/.git/x"), "x", { sandbox })).rejects.toMatchObject({
      rpcCode: -32603,
    });
    await rm(it.at("ws"), { recursive: true });
  }
});

test("many workspaces at once are all served", { timeout: 120_000 }, async () => {
  await using it = await sandboxFixture();
  const workspaces = Array.from({ length: 24 }, (_, index) => `w${index}`);
  for (const name of workspaces) await mkdir(it.at(name));
  const sandboxOf = (name: string) => ({
    ...it.workspaceWrite(),
    policyContext: { cwd: it.uri(name), workspaceRoots: [it.uri(name)] },
  });
  const write = (name: string, round: number) =>
    it.client.files.write(it.at(`${name}/f${round}`), name, { sandbox: sandboxOf(name) });
  for (let round = 0; round < 3; round += 1) await Promise.all(workspaces.map((name) => write(name, round)));
  for (const name of workspaces) expect((await readdir(it.at(name))).toSorted()).toEqual(["f0", "f1", "f2"]);
});

test("open files outlive the helpers that are stopped", { timeout: 120_000 }, async () => {
  await using it = await sandboxFixture();
  const sandboxOf = (name: string) => ({
    ...it.workspaceWrite([it.path("ws/denied", "deny")]),
    policyContext: { cwd: it.uri(name), workspaceRoots: [it.uri(name)] },
  });
  const workspaces = Array.from({ length: 24 }, (_, index) => `w${index}`);
  for (const name of ["ws/denied", ...workspaces.map((workspace) => `${workspace}/file`)])
    await it.put(name, name);
  await Promise.all(
    workspaces.map((name) =>
      it.client.request("fs/open", {
        handleId: name,
        path: it.uri(`${name}/file`),
        sandbox: sandboxOf(name),
      }),
    ),
  );
  for (const name of workspaces) {
    await unlink(it.at(`${name}/file`));
    const { chunk } = await it.client.request("fs/readBlock", { handleId: name, offset: 0, len: 100 });
    expect(Buffer.from(chunk, "base64").toString()).toBe(`${name}/file`);
    await it.client.request("fs/close", { handleId: name });
  }
});

test("equal handle ids of two connections name two files", async () => {
  await using it = await sandboxFixture();
  using first = await RawClient.ready(it.server.url);
  using second = await RawClient.ready(it.server.url);
  const sandbox = it.workspaceWrite([it.path("ws/denied", "deny")]);
  await it.put("ws/denied");
  await it.put("ws/one", "one");
  await it.put("ws/two", "two");
  const open = (client: RawClient, path: string) =>
    client.call("fs/open", { handleId: "h", path: it.uri(path), sandbox });
  const read = async (client: RawClient): Promise<unknown> => {
    const { result, error } = await client.call("fs/readBlock", { handleId: "h", offset: 0, len: 10 });
    return error?.code ?? Buffer.from(String(result?.["chunk"]), "base64").toString();
  };
  expect((await open(first, "ws/one")).error).toBeUndefined();
  expect((await open(second, "ws/two")).error).toBeUndefined();
  expect([await read(first), await read(second)]).toEqual(["one", "two"]);
  await first.call("fs/close", { handleId: "h" });
  expect([await read(first), await read(second)]).toEqual([-32004, "two"]);
});

test("an open file is there when the client of its session comes back", async () => {
  await using it = await sandboxFixture();
  await using proxy = await cuttableProxy(it.server.url);
  const sandbox = it.workspaceWrite([it.path("ws/denied", "deny")]);
  await it.put("ws/denied");
  await it.put("ws/file", "content");
  using client = await RawClient.ready(proxy.url);
  await client.call("fs/open", { handleId: "h", path: it.uri("ws/file"), sandbox });
  proxy.cut();
  await client.closed();
  using resumed = await RawClient.ready(proxy.url, client.sessionId);
  const { result } = await resumed.call("fs/readBlock", { handleId: "h", offset: 0, len: 10 });
  expect(Buffer.from(String(result?.["chunk"]), "base64").toString()).toBe("content");
});

test("nothing of a helper is seen in the workspace", async () => {
  await using it = await sandboxFixture();
  const sandbox = it.workspaceWrite([it.path("ws/gone", "deny")]);
  await it.client.files.write(it.at("ws/file"), "x", { sandbox });
  expect(await readdir(it.at("ws"))).toEqual(["file"]);
  await writeFile(it.at("ws/gone"), "someone else's");
  await it.client.files.write(it.at("ws/file"), "x", { sandbox });
  expect(await readFile(it.at("ws/gone"), "utf8")).toBe("someone else's");
});
