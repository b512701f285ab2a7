import type { Codex, v2 } from "codexkit";
import { describe, expect, test } from "vitest";
import { checkModel } from "./check-model.ts";

const { signal } = new AbortController();

/** A codex with two models for people and one for itself. */
const codex = {
  models: {
    async *list() {
      yield createModel("big", ["low", "high"]);
      yield createModel("small", ["none"]);
      yield { ...createModel("internal", ["low"]), hidden: true };
    },
  },
} as unknown as Codex;

function createModel(model: string, efforts: readonly string[]): v2.Model {
  const supportedReasoningEfforts = efforts.map((reasoningEffort) => ({ reasoningEffort, description: "" }));
  return { id: model, model, hidden: false, supportedReasoningEfforts } as unknown as v2.Model;
}

function check(choice: Parameters<typeof checkModel>[0], modelProvider = "openai"): Promise<void> {
  const settings = { model: "big", modelProvider } as never;
  return checkModel(choice, { codex, thread: { settings }, signal });
}

describe("a model", () => {
  test("of the list is accepted, hidden or not", async () => {
    await expect(check({ model: "small" })).resolves.toBeUndefined();
    await expect(check({ model: "internal" })).resolves.toBeUndefined();
  });

  test("that is not listed is refused with the choices, except for a provider of one's own", async () => {
    await expect(check({ model: "nosuch" })).rejects.toMatchObject({
      exitCode: 2,
      message: 'Unknown model "nosuch".',
      hint: "Choose one of big, small.",
    });
    await expect(check({ model: "nosuch" }, "local")).resolves.toBeUndefined();
  });
});

describe("an effort", () => {
  test("must be one of the chosen model, or of the thread's", async () => {
    await expect(check({ model: "small", effort: "none" })).resolves.toBeUndefined();
    await expect(check({ effort: "high" })).resolves.toBeUndefined();
    await expect(check({ effort: "none" })).rejects.toMatchObject({
      message: 'Unknown effort "none" for big.',
      hint: "Choose one of low, high.",
    });
  });

  test("of an unlisted model must be one of any model", async () => {
    await expect(check({ model: "mine", effort: "none" }, "local")).resolves.toBeUndefined();
    await expect(check({ model: "mine", effort: "bogus" }, "local")).rejects.toMatchObject({
      message: 'Unknown effort "bogus".',
      hint: "Choose one of low, high, none.",
    });
  });
});

test("without a choice, Codex is not asked", async () => {
  const options = { codex: {} as Codex, thread: {} as never, signal };
  await expect(checkModel({}, options)).resolves.toBeUndefined();
});
