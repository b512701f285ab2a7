import { gzipSync, zstdCompressSync } from "node:zlib";

import { expect, it } from "vitest";

import { post } from "../test/post.ts";
import { SCRIPTED_MODEL_LIMITS, ScriptedModel } from "./index.ts";

it.each([
  { what: "text that is not JSON", body: "{nope", encoding: "identity" },
  { what: "JSON that is not an object", body: "[]", encoding: "identity" },
  { what: "an unknown encoding", body: "{}", encoding: "rot13" },
  { what: "a body that doesn't decode", body: "{}", encoding: "gzip" },
])("answers 400 to $what", async ({ body, encoding }) => {
  await using model = await ScriptedModel.start(["hi"]);
  const response = await post(model.url, {}, { body, headers: { "content-encoding": encoding } });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "bad_request" } });
  expect((await post(model.url)).status).toBe(200);
});

it("responds 400 to a body that exceeds the limit, with or without length and compression", async () => {
  await using model = await ScriptedModel.start(["hi"]);
  const large = Buffer.alloc(SCRIPTED_MODEL_LIMITS.requestBytes + 1, " ");
  expect((await post(model.url, {}, { body: large })).status).toBe(400);
  const stream = new Blob([large]).stream();
  expect((await post(model.url, {}, { body: stream, duplex: "half" })).status).toBe(400);
  const packed = { body: gzipSync(large), headers: { "content-encoding": "gzip" } };
  expect((await post(model.url, {}, packed)).status).toBe(400);
});

it("reads compressed bodies", async () => {
  await using model = await ScriptedModel.start(() => "hi");
  const body = JSON.stringify({ model: "packed" });
  await post(model.url, {}, { body: zstdCompressSync(body), headers: { "content-encoding": "zstd" } });
  await post(model.url, {}, { body: gzipSync(body), headers: { "content-encoding": "gzip" } });
  expect(model.requests.map((request) => request.model)).toEqual(["packed", "packed"]);
});
