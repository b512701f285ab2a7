import { type AppServer, startAppServer } from "@codexkit/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { peerCaller } from "../../test/peer-caller.ts";
import { Models } from "./models.ts";

let server: AppServer;
let models: Models;
beforeAll(async () => {
  server = await startAppServer({ model: [] });
  models = new Models(peerCaller(await server.connect()));
});
afterAll(() => server[Symbol.asyncDispose]());

it("lists the same catalog for any page size when signed out", async () => {
  const all = await Array.fromAsync(models.list());
  expect(all.length).toBeGreaterThan(1);
  expect(await Array.fromAsync(models.list({ pageSize: 1 }))).toEqual(all);
  const first = await models.page({ limit: 1 });
  expect(first.data).toEqual(all.slice(0, 1));
  expect((await models.page({ limit: 1, cursor: first.nextCursor })).data).toEqual(all.slice(1, 2));
});

it("includes hidden models on request", async () => {
  const shown = await Array.fromAsync(models.list());
  const all = await Array.fromAsync(models.list({ includeHidden: true }));
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(shown.map(({ id }) => id)));
});

it("finds the default model and a model by name", async () => {
  const standard = await models.default();
  expect(standard).toMatchObject({ isDefault: true, hidden: false });
  expect(await models.find(standard?.id ?? "")).toEqual(standard);
  expect(await models.get(standard?.id ?? "")).toEqual(standard);
});

it("lists the available models if one is unknown", async () => {
  const standard = await models.default();
  expect(await models.find("no-such-model")).toBeUndefined();
  await expect(models.get("no-such-model")).rejects.toMatchObject({
    code: "model_not_found",
    message: expect.stringContaining(standard?.id ?? "nothing") as string,
  });
});

it("reads the provider's capabilities", async () => {
  expect(await models.providerCapabilities()).toEqual({
    imageGeneration: expect.any(Boolean) as boolean,
    webSearch: expect.any(Boolean) as boolean,
  });
});

it("rejects when the signal aborts", async () => {
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(Array.fromAsync(models.list({ signal }))).rejects.toMatchObject({ code: "aborted" });
});
