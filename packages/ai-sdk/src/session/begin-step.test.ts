import { callTool, say } from "@codexkit/scripted-model";
import { generateText, isStepCount, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codexStage } from "../../test/codex-stage.ts";

describe("prepareStep", () => {
  it("causes warnings for changes that Codex can't make during a turn, and the response names the model that answered", async () => {
    const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
    const other = tool({ inputSchema: z.object({}), execute: () => "other" });
    await using stage = await codexStage(({ newOutputs }) =>
      newOutputs.length === 0 ? callTool("look", {}) : say("ok"),
    );
    const { steps } = await generateText({
      model: stage.codex("mock-model"),
      prompt: "go",
      system: "One.",
      tools: { look, other },
      stopWhen: isStepCount(3),
      prepareStep: ({ stepNumber }) =>
        stepNumber === 0
          ? {}
          : {
              model: stage.codex("other-model"),
              instructions: "Two.",
              activeTools: ["other"],
              providerOptions: { codex: { effort: "high" } },
            },
    });
    expect(steps[1]?.response.modelId).toBe("mock-model");
    const features = (steps[1]?.warnings ?? []).map((warning) =>
      "feature" in warning ? warning.feature : "",
    );
    expect(new Set(features.map((feature) => feature.split(" ")[0]))).toEqual(
      new Set(["effort", "instructions", "model", "tools"]),
    );
    expect(stage.model.requests.map(({ body }) => body["model"])).toEqual(["mock-model", "mock-model"]);
  });
});
