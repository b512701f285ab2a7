// Tests which calls continue in their thread, on the real codex.
import { say } from "@codexkit/scripted-model";
import { generateText, type ModelMessage } from "ai";
import { describe, expect, it } from "vitest";
import { codexStage } from "../../test/codex-stage.ts";

describe("a changing system prompt", () => {
  it("does not accumulate copies", async () => {
    await using stage = await codexStage(() => say("ok"));
    const messages: ModelMessage[] = [];
    for (let minute = 0; minute < 4; minute += 1) {
      messages.push({ role: "user", content: `m${minute}` });
      const answer = await generateText({
        model: stage.codex(),
        system: `You help. The time is 12:0${minute}.`,
        messages,
      });
      messages.push(...answer.responseMessages);
    }
    const seen = JSON.stringify(stage.model.requests.at(-1)?.input);
    expect(seen.split("The time is").length - 1).toBe(1);
    expect(seen).toContain("12:03");
    for (const text of ["m0", "m1", "m2", "m3"]) expect(seen).toContain(`"${text}"`);
  });
});
