import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { codexSdk, compat } from "./codex-sdk.ts";
import { crowd } from "./crowd.ts";
import { floor } from "./floor.ts";
import { inSession } from "./in-session.ts";
import { ours } from "./ours.ts";
import { checkResponse } from "./script.ts";
import { startModel, type Model } from "./start-model.ts";

let model: Model;
const { signal } = new AbortController();

beforeAll(async () => {
  model = await startModel(signal);
});
afterAll(() => model[Symbol.asyncDispose]());

// A benchmark is only meaningful if all contestants do the same work.
describe.each([
  { name: "ours", contender: ours },
  { name: "floor", contender: floor },
  { name: "codexkit/compat", contender: compat },
  { name: "@openai/codex-sdk", contender: codexSdk },
])("$name", ({ contender }) => {
  it("gives the answer of every turn of a thread", async () => {
    await inSession(contender, { model, signal }, async (session) => {
      const thread = await session.startThread();
      for (let turn = 0; turn < 2; turn += 1) checkResponse("answer", await thread.run("answer"));
    });
  });

  it("ends with its session when the run is interrupted", async () => {
    const interruption = new AbortController();
    const stuck = inSession(contender, { model, signal: interruption.signal }, async (session) => {
      const thread = await session.startThread();
      interruption.abort(new Error("interrupted"));
      await thread.run("answer");
    });
    await expect(stuck).rejects.toThrow("interrupted");
  });
});

describe.each([
  { name: "ours", contender: ours },
  { name: "floor", contender: floor },
])("$name", ({ contender }) => {
  it("takes every delta of a long answer", async () => {
    await inSession(contender, { model, signal }, async (session) => {
      const thread = await session.startThread({ ephemeral: true });
      checkResponse("stream", await thread.stream("stream"));
    });
  });

  it("counts the threads of a crowd that completed", async () => {
    expect(await crowd(contender, 5, { model, signal })).toMatchObject({ completed: 5 });
  });
});

it("refuses an answer that lost a part", () => {
  expect(() => checkResponse("answer", "The test fails")).toThrow(/instead of its script/);
});
