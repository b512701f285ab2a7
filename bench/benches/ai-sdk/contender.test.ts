import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { inSession } from "../turns/in-session.ts";
import { startModel, type Model } from "../turns/start-model.ts";
import { allAtOnce, oneByOne } from "./calls.ts";
import { codexAppServer } from "./codex-app-server.ts";
import { codexCli } from "./codex-cli.ts";
import { floor } from "./floor.ts";
import { ours } from "./ours.ts";
import { processPerRequest } from "./process-per-request.ts";
import { checkAnswer } from "./script.ts";

let model: Model;
const { signal } = new AbortController();

beforeAll(async () => {
  model = await startModel(signal, new URL("./script.ts", import.meta.url));
});
afterAll(() => model[Symbol.asyncDispose]());

// A benchmark is only meaningful if all contestants do the same work.
describe.each([
  { name: "ours", contender: ours },
  { name: "floor", contender: floor },
  { name: "codex-cli", contender: codexCli },
  { name: "codex-app-server", contender: codexAppServer },
])("$name", ({ contender }) => {
  it("answers every call with its own answer, one by one and all at once", async () => {
    await expect(oneByOne(contender, 2, "at once", { model, signal })).resolves.toHaveProperty("time");
    await expect(allAtOnce(contender, 3, { model, signal })).resolves.toHaveProperty("time");
  });

  it("streams the answer to its own call", async () => {
    const text = await inSession(contender, { model, signal }, async (provider) =>
      (await Array.fromAsync(provider.stream("at once: 7"))).join(""),
    );
    expect(() => checkAnswer("at once", 7, text)).not.toThrow();
  });

  it("ends with its session when the run is interrupted", async () => {
    const interruption = new AbortController();
    const stuck = inSession(contender, { model, signal: interruption.signal }, async (provider) => {
      interruption.abort(new Error("interrupted"));
      await provider.generate("at once: 1");
    });
    await expect(stuck).rejects.toThrow("interrupted");
  });
});

it.each(["ours", "codex-cli", "codex-app-server"])("%s answers in a process of its own", async (name) => {
  const { import: imported, total, closed } = await processPerRequest(name, { model, signal });
  expect([imported, total, closed]).toEqual([imported, total, closed].toSorted((one, other) => one - other));
});

it("refuses the answer to another call", () => {
  expect(() => checkAnswer("at once", 1, "at once: 2")).toThrow(/not by its script/);
});
