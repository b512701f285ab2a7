import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestOf } from "./digest.ts";
import { promptEntries } from "./prompt-entries.ts";
import { StepRecorder } from "./step-recorder.ts";
import { Transcript } from "./transcript.ts";

type Message = LanguageModelV4Prompt[number];

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const assistant = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });
const entries = (...messages: Message[]) => promptEntries(messages).entries;

function call(toolCallId: string, input: unknown = {}, providerExecuted = true): Message {
  return {
    role: "assistant",
    content: [{ type: "tool-call", toolCallId, toolName: "look", input, providerExecuted }],
  };
}

function result(toolCallId: string, value: string): Message {
  return {
    role: "tool",
    content: [{ type: "tool-result", toolCallId, toolName: "look", output: { type: "text", value } }],
  };
}

/** Returns the transcript of a thread with these exchanges, one per turn. */
function threadWith(...exchanges: readonly (readonly [string, string])[]): Transcript {
  const transcript = new Transcript();
  const messages: Message[] = [];
  for (const [at, [asked, answered]] of exchanges.entries()) {
    messages.push(user(asked));
    transcript.continueWith(entries(...messages));
    const step = new StepRecorder();
    step.add({ type: "text-start", id: "t" });
    step.add({ type: "text-delta", id: "t", delta: answered });
    step.add({ type: "text-end", id: "t" });
    transcript.record(step.finish());
    transcript.endTurn(`turn ${at}`);
    messages.push(assistant(answered));
  }
  return transcript;
}

describe("a digest", () => {
  it("does not depend on the order of keys or on undefined values", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).toReversed());
        expect(digestOf(reversed)).toBe(digestOf(value));
        expect(digestOf({ ...value, undefined: undefined })).toBe(digestOf(value));
      }),
    );
  });

  it("differs for different texts", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(digestOf(one) === digestOf(other)).toBe(one === other);
      }),
    );
  });
});

describe("a transcript", () => {
  const thread = threadWith(["one", "1"], ["two", "2"]);

  it("is the same as the messages that led to it", () => {
    const prompt = entries(user("one"), assistant("1"), user("two"), assistant("2"));
    expect(thread.compare(prompt)).toEqual({ type: "same" });
  });

  it("distinguishes removed messages from changed ones", () => {
    expect(thread.compare(entries(user("one"), assistant("1")))).toEqual({
      type: "behind",
      lastTurnId: "turn 0",
    });
    expect(thread.compare(entries(user("one"), assistant("1"), user("2"), assistant("2")))).toEqual({
      type: "changed",
      lastTurnId: "turn 0",
      common: 2,
    });
    expect(thread.compare(entries(user("uno"), assistant("1")))).toEqual({
      type: "changed",
      lastTurnId: undefined,
      common: 0,
    });
  });

  it("matches only its own messages, regardless of which one is changed", () => {
    const exchange = fc.tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(
        fc.array(exchange, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        fc.string({ minLength: 1 }),
        (exchanges, at, text) => {
          const messages = exchanges.flatMap(([asked, answered]) => [user(asked), assistant(answered)]);
          const changed = messages.with(at % messages.length, at % 2 === 0 ? user(text) : assistant(text));
          const isSame = JSON.stringify(changed) === JSON.stringify(messages);
          const transcript = threadWith(...exchanges);
          expect(transcript.compare(entries(...messages)).type).toBe("same");
          expect(transcript.compare(entries(...changed)).type === "same").toBe(isSame);
        },
      ),
    );
  });

  it("takes the input of a client's tool call from the first prompt, and compares later prompts with it", () => {
    const transcript = new Transcript(entries(user("go")));
    const step = new StepRecorder();
    step.add({ type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" });
    transcript.record(step.finish());
    const prompt = [user("go"), call("c", { depth: 3 }, false), result("c", "seen")];
    expect(transcript.compare(entries(...prompt)).type).toBe("same");
    transcript.continueWith(entries(...prompt));
    expect(transcript.compare(entries(...prompt)).type).toBe("same");
    expect(
      transcript.compare(entries(user("go"), call("c", { depth: 4 }, false), result("c", "seen"))).type,
    ).toBe("changed");
    expect(
      transcript.compare(entries(user("go"), call("c", { depth: 3 }, false), result("c", "SEEN"))).type,
    ).toBe("changed");
  });

  it("finds the result of a call in any message, and uses the newest", () => {
    const transcript = new Transcript(entries(user("go")));
    const step = new StepRecorder();
    step.add({ type: "tool-call", toolCallId: "c", toolName: "look", input: "{}", providerExecuted: true });
    step.add({ type: "tool-result", toolCallId: "c", toolName: "look", result: "so far", preliminary: true });
    step.add({ type: "tool-result", toolCallId: "c", toolName: "look", result: "all" });
    transcript.record(step.finish());
    expect(
      transcript.compare(entries(user("go"), call("c"), result("c", "so far"), result("c", "all"))).type,
    ).toBe("same");
    expect(transcript.compare(entries(user("go"), call("c"), result("c", "so far"))).type).toBe("changed");
    expect(transcript.compare(entries(user("go"), call("c"))).type).toBe("changed");
  });

  it("counts a call once if a later step repeats it before its result", () => {
    const transcript = new Transcript(entries(user("go")));
    const first = new StepRecorder();
    first.add({ type: "tool-call", toolCallId: "c", toolName: "look", input: "{}", providerExecuted: true });
    transcript.record(first.finish());
    const second = new StepRecorder();
    second.add({ type: "tool-call", toolCallId: "c", toolName: "look", input: "{}", providerExecuted: true });
    second.add({ type: "tool-result", toolCallId: "c", toolName: "look", result: "all" });
    transcript.record(second.finish());
    expect(transcript.compare(entries(user("go"), call("c"), call("c"), result("c", "all"))).type).toBe(
      "same",
    );
    expect(transcript.compare(entries(user("go"), call("c"), result("c", "none"))).type).toBe("changed");
  });

  it("of a thread that a call named matches both the messages of the call and those of the thread", () => {
    const named = threadWith(["one", "1"]);
    named.appendNamed(entries(user("two")), entries(user("two")));
    const step = new StepRecorder();
    step.add({ type: "text-start", id: "t" });
    step.add({ type: "text-delta", id: "t", delta: "2" });
    named.record(step.finish());
    expect(named.compare(entries(user("two"), assistant("2"))).type).toBe("same");
    expect(named.compare(entries(user("one"), assistant("1"), user("two"), assistant("2"))).type).toBe(
      "same",
    );
    expect(named.compare(entries(user("zwei"), assistant("2"))).type).toBe("changed");
  });

  it("leaves out the unfinished text of an interrupted turn", () => {
    const step = new StepRecorder();
    step.add({ type: "text-start", id: "done" });
    step.add({ type: "text-delta", id: "done", delta: "done" });
    step.add({ type: "text-end", id: "done" });
    step.add({ type: "text-start", id: "cut" });
    step.add({ type: "text-delta", id: "cut", delta: "cut" });
    step.dropOpenTexts();
    step.add({ type: "text-end", id: "cut" });
    expect(step.finish().entries).toEqual(entries(assistant("done")));
  });
});
