// A frozen codex (SIGSTOP) never answers. Calls end through their signal, the request timeout or `close`.
import { gate, say, waitFor } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { generateText, streamText } from "ai";
import { Codex } from "codexkit";
import { expect, it } from "vitest";
import { createCodex } from "../src/index.ts";

async function frozen(limits: { readonly callTimeoutMs?: number } = {}) {
  await using made = new AsyncDisposableStack();
  const { env, workspace } = made.use(
    await codexFolders({
      model: ({ lastUserText }) => (lastUserText === "hold" ? say(["half ", waitFor(gate())]) : say("done")),
    }),
  );
  const codex = made.use(
    await Codex.launch({
      env,
      inheritEnv: false,
      limits,
      processLimits: { exitTimeoutMs: 200, terminateTimeoutMs: 200 },
    }),
  );
  const provider = made.use(createCodex({ codex, cwd: workspace }));
  const { pid } = codex;
  if (pid === undefined) throw new Error("codex is not running");
  const owner = made.move();
  return {
    model: provider("gpt-5.5"),
    freeze: () => process.kill(pid, "SIGSTOP"),
    kill: () => process.kill(pid, "SIGKILL"),
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

// These tests wait for timeouts, so they run concurrently.
it.concurrent("a running call ends when it is aborted", async () => {
  await using stage = await frozen();
  const abort = new AbortController();
  const { textStream } = streamText({
    model: stage.model,
    prompt: "hold",
    abortSignal: abort.signal,
    maxRetries: 0,
  });
  const texts: string[] = [];
  for await (const text of textStream) {
    texts.push(text);
    stage.freeze();
    abort.abort();
  }
  expect(texts).toEqual(["half "]);
  stage.kill();
});

it.concurrent("a starting call can be aborted, and times out otherwise", async () => {
  await using stage = await frozen({ callTimeoutMs: 500 });
  stage.freeze();
  const aborted = generateText({
    model: stage.model,
    prompt: "go",
    abortSignal: AbortSignal.timeout(100),
    maxRetries: 0,
  });
  await expect(aborted).rejects.toMatchObject({ name: expect.stringMatching(/Abort|Timeout/) as string });
  await expect(generateText({ model: stage.model, prompt: "go", maxRetries: 0 })).rejects.toThrow(/500 ms/);
});
