import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPrompt } from "./read-prompt.ts";

const tools = new Set<string>();

type Message = LanguageModelV4Prompt[number];
type Assistant = Extract<Message, { role: "assistant" }>;

const user = (...texts: string[]): Message => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
});
const assistant = (...content: Assistant["content"]): Assistant => ({ role: "assistant", content });
const says = (text: string): Assistant => assistant({ type: "text", text });

describe("a prompt", () => {
  it("passes its system messages as instructions, at any position", async () => {
    const read = await readPrompt(
      [{ role: "system", content: "Be brief." }, user("hi"), { role: "system", content: "Be kind." }],
      { tools },
    );
    expect(read).toMatchObject({ instructions: "Be brief.\n\nBe kind.", input: [{ text: "hi" }] });
    await expect(readPrompt([user("hi")], { tools })).resolves.toMatchObject({ instructions: undefined });
  });

  it("uses all user messages after the last assistant message as input, and the rest as history", async () => {
    const read = await readPrompt(
      [user("one"), says("two"), user("three", "four"), { role: "tool", content: [] }, user("five")],
      { tools },
    );
    expect(read.input).toEqual([{ text: "three" }, { text: "four" }, { text: "five" }]);
    expect((await read.readHistory()).items).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "one" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "two" }] },
    ]);
  });

  it("continues the thread of its newest assistant message, never an older one", async () => {
    const codex = (threadId: string, turnId?: string): { codex: { threadId: string; turnId?: string } } => ({
      codex: { threadId, ...(turnId === undefined ? {} : { turnId }) },
    });
    const ours = assistant(
      { type: "text", text: "a", providerOptions: codex("t1", "u1") },
      { type: "text", text: "b", providerOptions: codex("t1", "u2") },
      { type: "text", text: "c", providerOptions: { other: { threadId: "no" } } },
    );
    const thread = async (...prompt: LanguageModelV4Prompt): Promise<unknown> =>
      (await readPrompt(prompt, { tools })).thread;
    await expect(thread(user("hi"))).resolves.toBeUndefined();
    await expect(thread(user("hi"), ours, user("go on"))).resolves.toEqual({ threadId: "t1", turnId: "u2" });
    await expect(thread(ours, says("another model's"), user("go on"))).resolves.toBeUndefined();
    await expect(thread({ ...says("x"), providerOptions: codex("t2") }, user("go on"))).resolves.toEqual({
      threadId: "t2",
      turnId: undefined,
    });
  });

  it("is split without loss or repetition, for any order of messages", async () => {
    const message = fc.oneof(
      fc.nat(999).map((n): Message => user(`<u${n}>`)),
      fc.nat(999).map((n): Message => says(`<a${n}>`)),
      fc.nat(999).map((n): Message => ({ role: "system", content: `<s${n}>` })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(message), async (prompt) => {
        const { instructions, readHistory, input } = await readPrompt(prompt, { tools });
        const { items } = await readHistory();
        const words = (value: unknown): string[] => JSON.stringify(value ?? "").match(/<\w\d+>/g) ?? [];
        expect([...words(items), ...words(input)]).toEqual(
          words(prompt.filter(({ role }) => role !== "system")),
        );
        expect(words(instructions)).toEqual(words(prompt.filter(({ role }) => role === "system")));
      }),
    );
  });
});
