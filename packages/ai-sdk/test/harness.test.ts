import { HarnessAgent } from "@ai-sdk/harness/agent";
import { callTool, gate, run, say, waitFor } from "@codexkit/scripted-model";
import { codexFolders, startAppServer } from "@codexkit/testing";
import { Output } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type CodexHarness, createCodexHarness } from "../src/harness/create-codex-harness.ts";
import { localSandbox } from "../src/harness/local-sandbox.ts";

type Script = Parameters<typeof codexFolders>[0]["model"];
type Folders = Awaited<ReturnType<typeof codexFolders>>;

/** Creates a harness on a real codex that plays a script. Another harness on the same folders acts as another process. */
async function onScript(model: Script): Promise<
  AsyncDisposable & {
    readonly folders: Folders;
    readonly sandbox: ReturnType<typeof localSandbox>;
    readonly open: () => CodexHarness;
  }
> {
  await using made = new AsyncDisposableStack();
  const folders = made.use(await codexFolders({ model, modelName: "gpt-5.5" }));
  const owner = made.move();
  return {
    folders,
    sandbox: localSandbox({ folder: folders.workspace }),
    open: () =>
      owner.use(createCodexHarness({ launch: { env: folders.env, inheritEnv: false }, model: "gpt-5.5" })),
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

describe("a HarnessAgent on Codex", () => {
  it("runs two prompts on one thread, in the folder of the session", async () => {
    const threads = new Set<string | undefined>();
    await using stage = await onScript(({ threadId, newOutputs, lastUserText }) => {
      threads.add(threadId);
      return lastUserText === "where" && newOutputs.length === 0
        ? run("pwd", { callId: "pwd" })
        : say(`done: ${lastUserText}`);
    });
    const agent = new HarnessAgent({
      harness: stage.open(),
      sandbox: stage.sandbox,
      instructions: "Be brief.",
    });
    const session = await agent.createSession({ sessionId: "one" });
    const first = await agent.generate({ session, prompt: "where" });
    expect(first.text).toBe("done: where");
    expect(first.steps.flatMap(({ toolResults }) => toolResults)).toMatchObject([
      // The agent removes its folder from all output.
      { toolName: "bash", output: { output: ".\n" } },
    ]);
    const commands = stage.folders.model.requests.map((request) => request.commandResult("pwd"));
    expect(commands.at(-1)?.output).toContain("codex-one");
    const streamed = await agent.stream({ session, prompt: "again" });
    await expect(streamed.text).resolves.toBe("done: again");
    expect(threads.size).toBe(1);
    await session.destroy();
  });

  it("runs tools of the host, and returns structured output", async () => {
    await using stage = await onScript(({ newOutputs }) =>
      newOutputs.length === 0 ? callTool("weather", { city: "Oslo" }) : say('{"sky":"snow"}'),
    );
    const asked: string[] = [];
    const agent = new HarnessAgent({
      harness: stage.open(),
      sandbox: stage.sandbox,
      tools: {
        weather: {
          description: "The weather in a city.",
          inputSchema: z.object({ city: z.string() }),
          execute: async ({ city }: { city: string }) => {
            asked.push(city);
            return { sky: "snow" };
          },
        },
      },
      output: Output.object({ schema: z.object({ sky: z.string() }) }),
    });
    const session = await agent.createSession();
    const { output, steps } = await agent.generate({ session, prompt: "Weather?" });
    expect(output).toEqual({ sky: "snow" });
    expect(asked).toEqual(["Oslo"]);
    expect(steps).toHaveLength(2);
    await session.destroy();
  });

  it("waits for the result of a tool that the host's caller runs", async () => {
    await using stage = await onScript(({ newOutputs }) =>
      newOutputs.length === 0 ? callTool("confirm", {}) : say(`You said: ${newOutputs[0]?.text}`),
    );
    const agent = new HarnessAgent({
      harness: stage.open(),
      sandbox: stage.sandbox,
      tools: { confirm: { description: "Asks the caller.", inputSchema: z.object({}) } },
    });
    const session = await agent.createSession();
    const asked = await agent.generate({ session, prompt: "Go" });
    const [call] = asked.toolCalls;
    const { text } = await agent.continueGenerate({
      session,
      toolResultContinuations: [
        {
          type: "tool-result",
          toolCallId: call?.toolCallId ?? "",
          toolName: "confirm",
          output: { type: "text", value: "yes" },
        },
      ],
    });
    expect(text).toBe("You said: yes");
    await session.destroy();
  });

  it.each([
    { approved: true, status: "completed" },
    { approved: false, status: "declined" },
  ])(
    "requests an approval for a command, and continues with the answer: $approved",
    async ({ approved, status }) => {
      await using stage = await onScript(({ newOutputs }) =>
        newOutputs.length === 0 ? run("echo out", { escalate: "network" }) : say("Done."),
      );
      const agent = new HarnessAgent({
        harness: stage.open(),
        sandbox: stage.sandbox,
        permissionMode: "allow-reads",
      });
      const session = await agent.createSession();
      const asked = await agent.generate({ session, prompt: "Go" });
      const request = asked.content.find((part) => part.type === "tool-approval-request");
      expect(request).toMatchObject({ toolCall: { toolName: "bash" } });
      const answered = await agent.continueGenerate({
        session,
        toolApprovalContinuations: [
          { type: "tool-approval-response", approvalId: request?.approvalId ?? "", approved },
        ],
      });
      expect(answered.text).toBe("Done.");
      const outcomes = answered.steps.flatMap(({ content }) => content);
      expect(JSON.stringify(outcomes)).toContain(status);
      await session.destroy();
    },
  );

  it("can be suspended during a turn without losing anything in the same process", async () => {
    const middle = gate();
    await using stage = await onScript(() => say(["One. ", waitFor(middle), "Two."]));
    const harness = stage.open();
    const agent = new HarnessAgent({ harness, sandbox: stage.sandbox });
    const session = await agent.createSession({ sessionId: "sliced" });
    const first = await agent.stream({ session, prompt: "Count" });
    let seen = "";
    for await (const part of first.stream) {
      if (part.type !== "text-delta") continue;
      seen += part.text;
      break;
    }
    const continueFrom = await session.suspendTurn();
    middle.open();
    const next = await agent.createSession({
      sessionId: "sliced",
      continueFrom: JSON.parse(JSON.stringify(continueFrom)) as typeof continueFrom,
    });
    const rest = await agent.continueStream({ session: next });
    for await (const part of rest.stream) if (part.type === "text-delta") seen += part.text;
    expect(seen).toBe("One. Two.");
    await next.destroy();
  });

  it("can be stopped and resumed by another process, on the same thread", async () => {
    const threads = new Set<string | undefined>();
    await using stage = await onScript(({ threadId }) => {
      threads.add(threadId);
      return say("Hello.");
    });
    const before = stage.open();
    const agent = new HarnessAgent({ harness: before, sandbox: stage.sandbox });
    const session = await agent.createSession({ sessionId: "moved" });
    await agent.generate({ session, prompt: "Hi" });
    const resumeFrom = await session.stop();
    await before.close();

    const later = new HarnessAgent({ harness: stage.open(), sandbox: stage.sandbox });
    const resumed = await later.createSession({ sessionId: "moved", resumeFrom });
    expect((await later.generate({ session: resumed, prompt: "Hi again" })).text).toBe("Hello.");
    expect(threads.size).toBe(1);
    await resumed.destroy();
  });

  it("can be compacted, which the next turn reports", async () => {
    await using stage = await onScript(() => say("Hello."));
    const agent = new HarnessAgent({ harness: stage.open(), sandbox: stage.sandbox });
    const session = await agent.createSession();
    await agent.generate({ session, prompt: "Hi" });
    await session.compact();
    await expect(session.compact("keep the names")).rejects.toThrow("without instructions");
    const { stream } = await agent.stream({ session, prompt: "And now?" });
    const outputs: unknown[] = [];
    for await (const part of stream) if (part.type === "tool-result") outputs.push(part.output);
    expect(outputs).toMatchObject([{ trigger: "manual" }]);
    await session.destroy();
  });

  it("can be steered during a turn", async () => {
    const middle = gate();
    await using stage = await onScript(({ lastUserText }) =>
      lastUserText === "wait" ? say(["Hm. ", waitFor(middle), "."]) : say(`heard: ${lastUserText}`),
    );
    const agent = new HarnessAgent({ harness: stage.open(), sandbox: stage.sandbox });
    const session = await agent.createSession();
    const result = await agent.stream({ session, prompt: "wait" });
    let text = "";
    for await (const part of result.stream) {
      if (part.type !== "text-delta") continue;
      if (text === "") {
        await agent.experimental_steer({ session, text: "also this" });
        middle.open();
      }
      text += part.text;
    }
    expect(text).toContain("heard: also this");
    await session.destroy();
  });

  it("can be aborted, and accepts another prompt", async () => {
    const never = gate();
    await using stage = await onScript(({ lastUserText }) =>
      lastUserText === "wait" ? say(["Hm. ", waitFor(never)]) : say("Still here."),
    );
    const agent = new HarnessAgent({ harness: stage.open(), sandbox: stage.sandbox });
    const session = await agent.createSession();
    const abort = new AbortController();
    const { stream } = await agent.stream({ session, prompt: "wait", abortSignal: abort.signal });
    const types: string[] = [];
    for await (const part of stream) {
      types.push(part.type);
      if (part.type === "text-delta") abort.abort();
    }
    expect(types).toContain("abort");
    expect((await agent.generate({ session, prompt: "and now?" })).text).toBe("Still here.");
    never.open();
    await session.destroy();
  });

  it("is prompted to continue a turn that another process left unfinished", async () => {
    const never = gate();
    await using stage = await onScript(({ lastUserText }) =>
      lastUserText === "wait" ? say(["Hm. ", waitFor(never)]) : say(`told: ${lastUserText}`),
    );
    const before = stage.open();
    const agent = new HarnessAgent({ harness: before, sandbox: stage.sandbox });
    const session = await agent.createSession({ sessionId: "cut" });
    const { stream } = await agent.stream({ session, prompt: "wait" });
    for await (const part of stream) if (part.type === "text-delta") break;
    const continueFrom = await session.suspendTurn();
    await before.close();
    never.open();

    const later = new HarnessAgent({ harness: stage.open(), sandbox: stage.sandbox });
    const resumed = await later.createSession({ sessionId: "cut", continueFrom });
    const { text } = await later.continueGenerate({ session: resumed });
    expect(text).toBe("told: Continue from where you were interrupted.");
    await resumed.destroy();
  });

  it("can have a command approved in another process, on a shared server", async () => {
    await using server = await startAppServer({
      model: ({ newOutputs }) =>
        newOutputs.length === 0 ? run("echo out", { escalate: "network" }) : say("Done."),
      listen: "unix",
    });
    const connect = { url: server.url ?? "" };
    const sandbox = localSandbox({ folder: server.workspace });
    const settings = { sandbox, permissionMode: "allow-reads" } as const;
    await using before = createCodexHarness({ connect });
    const agent = new HarnessAgent({ harness: before, ...settings });
    const session = await agent.createSession({ sessionId: "far" });
    const asked = await agent.generate({ session, prompt: "Go" });
    const request = asked.content.find((part) => part.type === "tool-approval-request");
    const resumeFrom = await session.detach();
    await before.close();

    await using after = createCodexHarness({ connect });
    const later = new HarnessAgent({ harness: after, ...settings });
    const resumed = await later.createSession({
      sessionId: "far",
      resumeFrom: JSON.parse(JSON.stringify(resumeFrom)) as typeof resumeFrom,
    });
    const { text } = await later.continueGenerate({
      session: resumed,
      toolApprovalContinuations: [
        { type: "tool-approval-response", approvalId: request?.approvalId ?? "", approved: true },
      ],
    });
    expect(text).toBe("Done.");
    await resumed.destroy();
  });

  it("rejects settings that Codex can't guarantee", async () => {
    await using stage = await onScript([]);
    const agent = new HarnessAgent({
      harness: stage.open(),
      sandbox: stage.sandbox,
      inactiveTools: ["webSearch"],
    });
    await expect(agent.createSession()).rejects.toThrow("Codex has no activeTools");
  });
});
