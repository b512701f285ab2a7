// Tests calls whose codex exits, on the real codex.
import { callTool, gate, say, waitFor } from "@codexkit/scripted-model";
import { generateText, isStepCount, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codexStage } from "./codex-stage.ts";
import { CodexModelError, createCodex } from "../src/index.ts";

describe("a codex that dies during a turn", () => {
  it("ends the stream with an error immediately", async () => {
    const never = gate();
    await using stage = await codexStage([[say(["so far", waitFor(never)])]]);
    const errors: unknown[] = [];
    const { fullStream } = streamText({
      model: stage.codex(),
      prompt: "go",
      onError: ({ error }) => void errors.push(error),
    });
    let text = "";
    for await (const part of fullStream) {
      if (part.type !== "text-delta") continue;
      text += part.text;
      process.kill(stage.stage.codex.pid ?? 0, "SIGKILL");
    }
    expect(text).toBe("so far");
    expect(errors).toMatchObject([{ code: "codex_lost" }]);
    expect(CodexModelError.isInstance(errors[0])).toBe(true);
  });

  it("rejects the call, and the next call launches another codex", async () => {
    const never = gate();
    await using stage = await codexStage(({ lastUserText }) =>
      lastUserText === "die" ? waitFor(never) : say("alive"),
    );
    const call = generateText({ model: stage.codex(), prompt: "die" });
    await stage.model.waitForRequests(1);
    process.kill(stage.stage.codex.pid ?? 0, "SIGKILL");
    await expect(call).rejects.toMatchObject({ code: "codex_lost" });
    const { text } = await generateText({ model: stage.codex(), prompt: "live" });
    expect(text).toBe("alive");
  });

  it("between two steps, after a tool has run, does not stop the loop: it continues with the tool's result", async () => {
    for (const persist of [false, true]) {
      let runs = 0;
      await using stage = await codexStage(
        ({ input }) =>
          JSON.stringify(input).includes("receipt 7") ? say("Paid once.") : callTool("pay", {}),
        { persist },
      );
      const pay = tool({
        inputSchema: z.object({}),
        execute: async () => {
          runs += 1;
          const { codex } = stage.stage;
          const pid = codex.pid ?? 0;
          process.kill(pid, "SIGKILL");
          await expect.poll(() => codex.pid).not.toBe(pid);
          return "receipt 7";
        },
      });
      const { text, steps } = await generateText({
        model: stage.codex(),
        prompt: "pay",
        tools: { pay },
        stopWhen: isStepCount(3),
      });
      expect({ text, runs }).toEqual({ text: "Paid once.", runs: 1 });
      expect(steps[1]?.warnings).toMatchObject([{ message: expect.stringContaining("new thread") }]);
    }
  });

  it("after it received a tool's result causes an error that carries the result", async () => {
    const never = gate();
    await using stage = await codexStage(({ newOutputs }) =>
      newOutputs.length === 0 ? callTool("pay", {}) : waitFor(never),
    );
    const pay = tool({ inputSchema: z.object({}), execute: () => "receipt 7" });
    const call = generateText({
      model: stage.codex(),
      prompt: "pay",
      tools: { pay },
      stopWhen: isStepCount(3),
    });
    const failed = call.then(
      () => undefined,
      (error: unknown) => error,
    );
    await stage.model.waitForRequests(2);
    process.kill(stage.stage.codex.pid ?? 0, "SIGKILL");
    expect(await failed).toMatchObject({
      code: "codex_lost",
      toolResults: [{ toolName: "pay", output: { type: "text", value: "receipt 7" } }],
    });
  });

  it("is codex_unavailable if it can't start", async () => {
    await using codex = createCodex({ launch: { codexPath: "/nowhere/codex" } });
    await expect(generateText({ model: codex(), prompt: "go" })).rejects.toMatchObject({
      code: "codex_unavailable",
    });
  });
});
