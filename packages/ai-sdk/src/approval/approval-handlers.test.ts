import { run, say } from "@codexkit/scripted-model";
import { generateText } from "ai";
import { describe, expect, it } from "vitest";
import { codexStage, threadIdOf } from "../../test/codex-stage.ts";

describe("a model's handlers", () => {
  it("answer the approvals of its calls, on a thread that another model started", async () => {
    await using stage = await codexStage(
      ({ newOutputs }) => (newOutputs.length === 0 ? run("touch made") : say("ok")),
      { approvalPolicy: "untrusted", handlers: { approve: () => ({ decision: "decline" }) } },
    );
    const asked: string[] = [];
    const first = await generateText({ model: stage.codex(), prompt: "go" });
    const threadId = threadIdOf(first.providerMetadata);
    await generateText({
      model: stage.codex(undefined, {
        handlers: {
          approve: ({ kind }) => {
            asked.push(kind);
            return { decision: "decline" };
          },
        },
      }),
      prompt: "again",
      providerOptions: { codex: { threadId } },
    });
    expect(asked).toEqual(["command"]);
  });
});
