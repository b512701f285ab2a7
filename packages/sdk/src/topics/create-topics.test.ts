// The small topics, on the real codex.
import { type AppServer, startAppServer } from "@codexkit/testing";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { peerCaller } from "../../test/peer-caller.ts";
import { type Topics, createTopics } from "./create-topics.ts";
import type { TopicCaller } from "./topic-caller.ts";

let server: AppServer;
let caller: TopicCaller;
let topics: Topics;
beforeAll(async () => {
  server = await startAppServer({ model: [] });
  caller = peerCaller(await server.connect());
  topics = createTopics(caller);
});
afterAll(() => server[Symbol.asyncDispose]());

it("lists the permission profiles", async () => {
  const builtIn = [":read-only", ":workspace", ":danger-full-access"];
  const all = await Array.fromAsync(topics.permissionProfiles.list({ cwd: server.workspace }));
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(builtIn));
  expect(
    await Array.fromAsync(topics.permissionProfiles.list({ pageSize: 2, cwd: server.workspace })),
  ).toEqual(all);
});

it("lists the features and reports those that it could not set", async () => {
  const all = await Array.fromAsync(topics.features.list());
  expect(all).toContainEqual(expect.objectContaining({ name: "apps", enabled: false }));
  expect(await Array.fromAsync(topics.features.list({ pageSize: 50 }))).toEqual(all);
  const { thread } = await caller.request("thread/start", { cwd: server.workspace, ephemeral: true });
  expect((await topics.features.page({ limit: 1, threadId: thread.id })).data).toHaveLength(1);
  expect(await topics.features.set({ mentions_v2: false, "no-such-feature": true })).toEqual({
    applied: ["mentions_v2"],
    ignored: ["no-such-feature"],
  });
});

it("lists the collaboration modes", async () => {
  expect(await topics.collaborationModes.list()).toMatchObject([{ mode: "plan" }, { mode: "default" }]);
});

it("lists hooks by folder and by thread", async () => {
  expect(await topics.hooks.list({ cwds: [server.workspace] })).toMatchObject([
    { cwd: server.workspace, hooks: [] },
  ]);
  const { thread } = await caller.request("thread/start", { cwd: server.workspace, ephemeral: true });
  expect(await topics.hooks.listOfThread(thread.id)).toMatchObject([{ hooks: [] }]);
});

it("lists no apps and no plugins without an account", async () => {
  expect(await Array.fromAsync(topics.apps.list())).toEqual([]);
  expect(await topics.apps.installed()).toEqual([]);
  expect(await topics.apps.read(["missing"])).toEqual({ apps: [], missingAppIds: ["missing"] });
  expect(await topics.plugins.list()).toMatchObject({ marketplaces: [] });
  expect(await topics.plugins.installed({ cwds: [server.workspace] })).toMatchObject({ marketplaces: [] });
});

it("reads the server's diagnostics", async () => {
  const { process, gauges } = await topics.diagnostics.read();
  expect(process.id).toBe(server.process.child.pid);
  expect(gauges["app.requests.in_flight"]).toBeGreaterThanOrEqual(1);
});

it("saves a report to a new file only", async () => {
  const path = join(server.workspace, "report.zip");
  const report = { classification: "bug", reason: "a test", tags: { a: "b" } };
  expect(await topics.feedback.save(path, report)).toMatchObject({ savedPath: path });
  expect(existsSync(path)).toBe(true);
  await expect(topics.feedback.save(path, report)).rejects.toMatchObject({ code: "request_failed" });
  await expect(topics.feedback.save("report.zip", report)).rejects.toMatchObject({
    code: "invalid_argument",
  });
});

it("adds an environment and reads its status", async () => {
  const { environments } = topics;
  await environments.add({ id: "far", url: "ws://127.0.0.1:1", connectTimeoutMs: 1000 });
  expect(await environments.status("far")).toMatchObject({
    status: expect.stringMatching(/disconnected|pending/) as string,
  });
  expect(await environments.status("missing")).toMatchObject({ status: "unknown" });
  expect(await environments.status("local")).toEqual({ status: "ready" });
  expect(await environments.info("local")).toMatchObject({ cwd: `file://${server.workspace}` });
  await expect(environments.info("far")).rejects.toMatchObject({ code: "request_failed" });
  await expect(environments.add({ id: "bad", url: "http://x" })).rejects.toMatchObject({
    code: "invalid_argument",
  });
});
