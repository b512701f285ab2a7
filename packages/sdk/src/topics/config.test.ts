import { type AppServer, startAppServer } from "@codexkit/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { peerCaller } from "../../test/peer-caller.ts";
import { Config } from "./config.ts";

let server: AppServer;
let config: Config;
beforeAll(async () => {
  server = await startAppServer({ model: [], config: ['model_verbosity="high"'] });
  config = new Config(peerCaller(await server.connect()));
});
afterAll(() => server[Symbol.asyncDispose]());

it("reads the effective config, its origins and, on request, its layers", async () => {
  const { config: effective, layers } = await config.read();
  expect(effective.model).toBe("mock-model");
  expect(layers ?? null).toBeNull();
  const withLayers = await config.read({ includeLayers: true, cwd: server.workspace });
  expect(withLayers.layers?.map(({ name }) => name.type)).toContain("user");
  expect(withLayers.origins["model"]?.name).toMatchObject({ type: "user" });
});

it("reads one value by its key path", async () => {
  expect(await config.value("features.apps")).toBe(false);
  expect(await config.value('"features".apps')).toBe(false);
  expect(await config.value("model_verbosity")).toBe("high");
  expect(await config.value("review_model")).toBeUndefined();
  expect(await config.value("model.deeper.still")).toBeUndefined();
  await expect(config.value("")).rejects.toMatchObject({ code: "invalid_argument" });
});

it("writes a value to the user's file and removes it", async () => {
  await config.write("model_reasoning_effort", "low");
  expect(await config.value("model_reasoning_effort")).toBe("low");
  expect(await readFile(join(server.codexHome, "config.toml"), "utf8")).toContain(
    'model_reasoning_effort = "low"',
  );
  await config.write("model_reasoning_effort", null);
  expect(await config.value("model_reasoning_effort")).toBeUndefined();
});

it("reports that another layer overrides a written value", async () => {
  const written = await config.write("model_verbosity", "low");
  expect(written).toMatchObject({ status: "okOverridden", overriddenMetadata: { effectiveValue: "high" } });
});

it("writes several values atomically, and only to the expected version", async () => {
  const version = await config.version();
  const changes = [
    { keyPath: "model_reasoning_summary", value: "none" },
    { keyPath: "tools.view_image", value: true, merge: "upsert" as const },
  ];
  const written = await config.writeAll(changes, {
    ...(version ? { expectedVersion: version } : {}),
    reload: true,
  });
  expect(written.version).toBe(await config.version());
  expect(await config.value("model_reasoning_summary")).toBe("none");
  const stale = config.write("model_reasoning_summary", "auto", { expectedVersion: version ?? "" });
  await expect(stale).rejects.toMatchObject({
    code: "request_failed",
    message: expect.stringMatching(/modified since last read/) as string,
  });
  const wrong = config.writeAll([
    { keyPath: "model_reasoning_summary", value: "auto" },
    { keyPath: "model_context_window", value: "not a number" },
  ]);
  await expect(wrong).rejects.toMatchObject({ code: "request_failed" });
  expect(await config.value("model_reasoning_summary")).toBe("none");
});

it("reads null if the administrator has set no requirements", async () => {
  expect(await config.requirements()).toBeNull();
});
