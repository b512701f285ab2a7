import { expect, it } from "vitest";

import { post } from "../test/post.ts";
import { ScriptedModel } from "./index.ts";

it("returns requests in order, once, including to earlier waits", async () => {
  await using model = await ScriptedModel.start(() => "ok");
  const early = [model.nextRequest(), model.nextRequest()];
  await post(model.url);
  await post(model.url);
  await post(model.url);
  expect((await Promise.all(early)).map(({ index }) => index)).toEqual([0, 1]);
  expect((await model.nextRequest()).index).toBe(2);
  expect(await model.waitForRequests(3)).toHaveLength(3);
  expect((await model.findRequest(({ index }) => index === 1)).index).toBe(1);
});

it("limits the time of every wait", async () => {
  await using model = await ScriptedModel.start([]);
  await expect(model.nextRequest({ timeoutMs: 1 })).rejects.toMatchObject({ code: "wait_timeout" });
  await expect(model.waitForRequests(1, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "aborted",
  });
  const controller = new AbortController();
  const waiting = model.findRequest(() => true, { signal: controller.signal });
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: "aborted" });
});

it("keeps only the newest requests but counts all of them", async () => {
  await using model = await ScriptedModel.start(() => "hi", { keepRequests: 2 });
  for (let at = 0; at < 4; at++) await post(model.url);
  expect(model.requests.map(({ index }) => index)).toEqual([2, 3]);
  expect(model.requestCount).toBe(4);
});

it("limits the kept bytes, but always keeps the newest request", async () => {
  await using model = await ScriptedModel.start(() => "hi", { keepBytes: 250 });
  for (const letter of ["a", "b", "c"]) await post(model.url, { model: letter.repeat(100) });
  expect(model.requests.map(({ index }) => index)).toEqual([1, 2]);
  expect(model.requests.map(({ bytes }) => bytes)).toEqual([112, 112]);
  await post(model.url, { model: "d".repeat(1_000) });
  expect(model.requests.map(({ index }) => index)).toEqual([3]);
  expect(model.requestCount).toBe(4);
});
