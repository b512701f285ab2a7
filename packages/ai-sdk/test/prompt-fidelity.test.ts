// The model sees exactly the prompt that was passed, regardless of the messages' thread. Tested on the real codex.
import {
  callTool,
  gate,
  type Gate,
  run,
  say,
  type Script,
  type ScriptRequest,
  waitFor,
} from "@codexkit/scripted-model";
import {
  convertToModelMessages,
  generateText,
  isStepCount,
  type ModelMessage,
  readUIMessageStream,
  streamText,
  tool,
  type UIMessage,
} from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type CodexStage, codexStage, threadIdOf } from "./codex-stage.ts";
import { type CodexModelProvider, createCodex } from "../src/index.ts";

/** Returns the conversation that the model receives as one text, without the instructions and the context that Codex adds. */
function shown({ input }: ScriptRequest): string {
  const conversation = input.filter(
    ({ role, content }) =>
      role !== "developer" && !JSON.stringify(content ?? "").startsWith('[{"type":"input_text","text":"<'),
  );
  return JSON.stringify(conversation);
}

const user = (content: string): ModelMessage => ({ role: "user", content });

interface Reported {
  readonly threadId: string;
  readonly messages: ModelMessage[];
  readonly warnings: readonly unknown[];
}

async function report(
  codex: CodexModelProvider,
  messages: ModelMessage[],
  options: object = {},
): Promise<Reported> {
  const result = await generateText({ model: codex(), messages, ...options });
  return {
    threadId: threadIdOf(result.providerMetadata),
    messages: [...messages, ...result.responseMessages],
    warnings: result.warnings ?? [],
  };
}

/** Returns messages as an application stores them: as JSON with keys in another order. */
function stored(messages: ModelMessage[]): ModelMessage[] {
  const reverse = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reverse);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, nested]) => [key, reverse(nested)]),
    );
  };
  return reverse(JSON.parse(JSON.stringify(messages))) as ModelMessage[];
}

/** Replaces a text everywhere. */
function redacted(messages: ModelMessage[], from: string, to = "[redacted]"): ModelMessage[] {
  return JSON.parse(JSON.stringify(messages).replaceAll(from, to)) as ModelMessage[];
}

const answers: Script = ({ lastUserText }) => say(`The answer to ${lastUserText}.`);

describe.each([
  { persist: false, how: "not stored" },
  { persist: true, how: "stored" },
])("a conversation whose thread is $how", ({ persist }) => {
  const stage = (script: Script): Promise<CodexStage> => codexStage(script, { persist });

  it("keeps its thread while its messages are unchanged, even after a round trip through a database", async () => {
    await using at = await stage(answers);
    const first = await report(at.codex, [user("SECRET one")]);
    const second = await report(at.codex, [...stored(first.messages), user("two")]);
    const third = await report(at.codex, [...stored(second.messages), user("three")]);
    expect([second.threadId, third.threadId]).toEqual([first.threadId, first.threadId]);
    expect(third.warnings).toEqual([]);
  });

  it("does not pass on a message that was redacted, and warns once", async () => {
    await using at = await stage(answers);
    const first = await report(at.codex, [user("SECRET one")]);
    const second = await report(at.codex, [...first.messages, user("two")]);
    const third = await report(at.codex, [...redacted(second.messages, "SECRET"), user("three")]);
    const request = shown(at.model.requests.at(-1) as ScriptRequest);
    expect(request).not.toContain("SECRET");
    expect(request).toContain("[redacted] one");
    expect(third.threadId).not.toBe(first.threadId);
    expect(third.warnings).toMatchObject([{ type: "other", message: expect.stringContaining("differ") }]);
    const fourth = await report(at.codex, [...third.messages, user("four")]);
    expect(fourth).toMatchObject({ threadId: third.threadId, warnings: [] });
    const fifth = await report(at.codex, [...redacted(fourth.messages, "four", "4"), user("five")]);
    expect(fifth.warnings).toEqual([]);
    expect(shown(at.model.requests.at(-1) as ScriptRequest)).not.toContain("four");
  });

  it("passes on a moderated answer, and the turns before it unchanged", async () => {
    await using at = await stage(answers);
    const first = await report(at.codex, [user("one")]);
    const second = await report(at.codex, [...first.messages, user("two")]);
    await report(at.codex, [...redacted(second.messages, "The answer to two.", "[removed]"), user("three")]);
    const request = shown(at.model.requests.at(-1) as ScriptRequest);
    expect(request).not.toContain("The answer to two.");
    for (const text of ["The answer to one.", "[removed]", "three"]) expect(request).toContain(text);
    expect(request.split("two")).toHaveLength(2);
  });

  it("passes on a sliding window, and nothing else", async () => {
    await using at = await stage(answers);
    const first = await report(at.codex, [user("one")]);
    const second = await report(at.codex, [...first.messages, user("two")]);
    await report(at.codex, [...second.messages.slice(2), user("three")]);
    expect(shown(at.model.requests.at(-1) as ScriptRequest)).not.toContain("one");
  });

  it("passes on prepended context", async () => {
    await using at = await stage(answers);
    const first = await report(at.codex, [user("one")]);
    await report(at.codex, [user("CONTEXT"), ...first.messages, user("two")]);
    const request = shown(at.model.requests.at(-1) as ScriptRequest);
    expect(request.indexOf("CONTEXT")).toBeGreaterThan(-1);
    expect(request.indexOf("CONTEXT")).toBeLessThan(request.indexOf("The answer to one."));
  });

  it("does not pass on command output that was redacted", async () => {
    await using at = await codexStage(
      ({ lastUserText, newOutputs }) =>
        lastUserText === "look" && newOutputs.length === 0 ? run("echo SEC''RET-42") : say("Done."),
      { persist, sandbox: "danger-full-access", approvalPolicy: "never" },
    );
    const first = await report(at.codex, [user("look")]);
    expect(JSON.stringify(first.messages)).toContain("SECRET-42");
    const same = await report(at.codex, [...stored(first.messages), user("same")]);
    expect(same).toMatchObject({ threadId: first.threadId, warnings: [] });
    await report(at.codex, [...redacted(first.messages, "SECRET-42"), user("go on")]);
    expect(shown(at.model.requests.at(-1) as ScriptRequest)).not.toContain("SECRET-42");
  });

  it("gives the thread to one of several calls that continue the same message, and copies to the others", async () => {
    const gates = new Map<string, Gate>(["b", "c"].map((name) => [name, gate()]));
    await using at = await stage(({ lastUserText }) => [
      ...(gates.has(lastUserText) ? [waitFor(gates.get(lastUserText) ?? gate())] : []),
      say(`The answer to ${lastUserText}.`),
    ]);
    const first = await report(at.codex, [user("a")]);
    const both = ["b", "c"].map((text) => report(at.codex, [...first.messages, user(text)]));
    const [, ...requests] = await at.model.waitForRequests(3);
    for (const one of gates.values()) one.open();
    const reported = await Promise.all(both);
    expect(reported.filter(({ threadId }) => threadId === first.threadId)).toHaveLength(1);
    expect(new Set(reported.map(({ threadId }) => threadId)).size).toBe(2);
    expect(reported.flatMap(({ warnings }) => warnings)).toEqual([]);
    const other = reported.find(({ threadId }) => threadId !== first.threadId);
    const { forkedFromId } = await at.codex.threads.read(other?.threadId ?? "");
    expect(forkedFromId).toBe(persist ? first.threadId : null);
    for (const request of requests) {
      const texts = shown(request);
      expect(texts).toContain("The answer to a.");
      expect([texts.includes('"b"'), texts.includes('"c"')].filter(Boolean)).toHaveLength(1);
    }
  });
});

describe("a conversation that another process continues", () => {
  async function continued(edit: (messages: ModelMessage[]) => ModelMessage[]): Promise<{
    readonly first: Reported;
    readonly second: Reported;
    readonly request: string;
  }> {
    await using at = await codexStage(answers, { persist: true });
    const zero = await report(at.codex, [user("zero")]);
    const first = await report(at.codex, [...zero.messages, user("SECRET one")]);
    await at.codex.close();
    await at.stage.codex.close();
    await using other = createCodex({ launch: at.stage.launchOptions, cwd: at.workspace, persist: true });
    const second = await report(other, [...edit(stored(first.messages)), user("two")]);
    return { first, second, request: shown(at.model.requests.at(-1) as ScriptRequest) };
  }

  it("keeps its thread while its messages are unchanged", async () => {
    const { first, second } = await continued((messages) => messages);
    expect(second).toMatchObject({ threadId: first.threadId, warnings: [] });
  });

  it("gets a copy of the thread through the last unchanged turn, with the changed messages after it", async () => {
    const { first, second, request } = await continued((messages) => redacted(messages, "SECRET"));
    expect(second.threadId).not.toBe(first.threadId);
    expect(second.warnings).toHaveLength(1);
    expect(request).not.toContain("SECRET");
    expect(request.split("The answer to zero.")).toHaveLength(2);
    expect(request).toContain("[redacted] one");
  });

  it("does not pass on a part that was removed from the last answer", async () => {
    const { second, request } = await continued((messages) => {
      const last = messages.at(-1);
      if (last?.role !== "assistant" || typeof last.content === "string") throw new Error("no answer");
      // A part without text keeps the metadata.
      const [part] = last.content;
      const empty = {
        type: "reasoning",
        text: "",
        providerOptions: part && "providerOptions" in part ? part.providerOptions : {},
      };
      return [...messages.slice(0, -1), { role: "assistant", content: [empty] } as ModelMessage];
    });
    expect(request).not.toContain("The answer to SECRET one.");
    expect(second.warnings).toHaveLength(1);
  });
});

describe("a tool loop", () => {
  const lookUp = tool({
    inputSchema: z.object({ name: z.string(), depth: z.number().default(3) }),
    execute: ({ name, depth }) => ({ name, depth, key: "SECRET" }),
  });
  const calls: Script = ({ lastUserText, newOutputs }) =>
    lastUserText === "look" && newOutputs.length === 0 ? callTool("lookUp", { name: "x" }) : say("Found it.");

  it("continues its turn although the tool's schema changed the input, and later detects an edited result", async () => {
    await using at = await codexStage(calls);
    const looked = { tools: { lookUp }, stopWhen: isStepCount(5) };
    const first = await report(at.codex, [user("look")], looked);
    const second = await report(at.codex, [...stored(first.messages), user("again")], looked);
    expect(second).toMatchObject({ threadId: first.threadId, warnings: [] });
    const edited = redacted(second.messages, "SECRET");
    const third = await report(at.codex, [...edited, user("once more")], looked);
    expect(third.threadId).not.toBe(first.threadId);
    expect(shown(at.model.requests.at(-1) as ScriptRequest)).not.toContain("SECRET");
  });

  it("moves to another thread when prepareStep changes earlier messages", async () => {
    await using at = await codexStage(calls);
    const { steps, text } = await generateText({
      model: at.codex(),
      messages: [user("SECRET before"), { role: "assistant", content: "Yes." }, user("look")],
      tools: { lookUp },
      stopWhen: isStepCount(5),
      prepareStep: ({ stepNumber, messages }) =>
        stepNumber === 0 ? {} : { messages: redacted(messages, "SECRET before") },
    });
    expect(text).toBe("Found it.");
    expect(steps[1]?.warnings).toMatchObject([{ message: expect.stringContaining("differ") }]);
    const request = shown(at.model.requests.at(-1) as ScriptRequest);
    expect(request).toContain("[redacted]");
    expect(request).not.toContain("SECRET before");
    expect(request).toContain("function_call_output");
  });
});

describe("a chat", () => {
  it("keeps its thread through UI messages, with commands in them", async () => {
    await using at = await codexStage(
      ({ lastUserText, newOutputs }) =>
        lastUserText === "look" && newOutputs.length === 0
          ? [say("I look."), run("echo hello")]
          : say("Done."),
      { sandbox: "danger-full-access", approvalPolicy: "never" },
    );
    const history: UIMessage[] = [];
    const ask = async (text: string): Promise<string> => {
      history.push({ id: `u${history.length}`, role: "user", parts: [{ type: "text", text }] });
      const result = streamText({ model: at.codex(), messages: await convertToModelMessages(history) });
      let last: UIMessage | undefined;
      for await (const message of readUIMessageStream({ stream: result.toUIMessageStream() })) last = message;
      if (last) history.push(JSON.parse(JSON.stringify(last)) as UIMessage);
      expect(await result.warnings).toEqual([]);
      return threadIdOf(await result.providerMetadata);
    };
    const first = await ask("look");
    expect(await ask("and now?")).toBe(first);
    expect(await ask("and now?")).toBe(first);
  });

  it("includes an interrupted answer, although Codex dropped it", async () => {
    const never = gate();
    await using at = await codexStage(({ lastUserText }) =>
      lastUserText === "one" ? [say(["CUT OFF", waitFor(never)])] : say("Done."),
    );
    const abort = new AbortController();
    const result = streamText({ model: at.codex(), prompt: "one", abortSignal: abort.signal });
    let metadata = {};
    for await (const part of result.fullStream) {
      if (part.type === "text-start") metadata = part.providerMetadata ?? {};
      if (part.type === "text-delta") abort.abort();
    }
    const answer: ModelMessage = {
      role: "assistant",
      content: [{ type: "text", text: "CUT OFF", providerOptions: metadata }],
    };
    await report(at.codex, [user("one"), answer, user("two")]);
    expect(shown(at.model.requests.at(-1) as ScriptRequest)).toContain("CUT OFF");
  });
});
