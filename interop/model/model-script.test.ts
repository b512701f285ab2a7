import { describe, expect, it } from "vitest";
import { type ModelMessage, order, playOrder } from "./model-script.ts";

const command = (text: string) => ({ type: "call", tool: "shell", input: { text } }) as const;

function play(...messages: readonly Partial<ModelMessage>[]): unknown {
  const complete = messages.map(
    (message) => ({ role: "user", text: "", toolResults: 0, ...message }) as const,
  );
  return playOrder({ messages: complete, tools: ["shell"] }, { command });
}

describe("the order `steps`", () => {
  it("runs commands until text is injected", () => {
    expect(play({ text: order("steps") })).toEqual(command("true"));
    expect(play({ text: order("steps") }, { toolResults: 1 })).toEqual(command("true"));
  });

  it("repeats text that was injected after a command", () => {
    const injected = { toolResults: 1, text: "nonce-1" };
    expect(play({ text: order("steps") }, injected)).toEqual({ type: "text", text: "nonce-1" });
  });

  it("repeats text that was injected into the message with the order", () => {
    const injected = { text: `${order("steps")}\nnonce-1` };
    expect(play(injected, { toolResults: 1 })).toEqual({ type: "text", text: "\nnonce-1" });
  });

  it("ignores text from before the order", () => {
    expect(play({ text: order("say", "nonce-1") }, { text: order("steps") })).toEqual(command("true"));
  });
});
