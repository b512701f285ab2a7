import { say } from "@codexkit/scripted-model";
import { expect, it } from "vitest";
import { codexStage, threadIdOf, userPrompt } from "../../test/codex-stage.ts";
import { createCodex } from "../index.ts";

it("keeps a resumed thread open until the last of several concurrent calls has ended", async () => {
  await using stage = await codexStage(() => say("ok"), { persist: true });
  const { providerMetadata } = await stage.codex().doGenerate({ prompt: userPrompt("go") });
  const id = threadIdOf(providerMetadata);
  await stage.codex.close();
  await using provider = createCodex({ codex: stage.stage.codex, cwd: stage.workspace, persist: true });
  const { threads } = provider;

  const firstEnded = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const second = threads.use(id, async (thread) => {
    started.resolve();
    await firstEnded.promise;
    await thread.rename("renamed");
  });
  await Promise.race([started.promise, second]);
  await threads.use(id, (thread) => thread.rename("first"));
  firstEnded.resolve();
  await second;
  expect((await threads.read(id)).name).toBe("renamed");

  await threads.use(id, async (thread) => {
    await provider().doGenerate({
      prompt: userPrompt("again"),
      providerOptions: { codex: { threadId: thread.id } },
    });
  });
  const { content } = await provider().doGenerate({
    prompt: userPrompt("and again"),
    providerOptions: { codex: { threadId: id } },
  });
  expect(content).toMatchObject([{ type: "text", text: "ok" }]);
});
