import { describe, expect, it } from "vitest";

import { startChild } from "./child.ts";
import { floor } from "./floor.ts";
import { longMessage, notifications } from "./messages.ts";
import { ours } from "./ours.ts";
import { vscodeJsonrpc } from "./vscode-jsonrpc.ts";

const { signal } = new AbortController();

// What is compared has to do the same work: these hold all three to it.
describe.each([
  { name: "ours", contender: ours },
  { name: "floor", contender: floor },
  { name: "vscode-jsonrpc", contender: vscodeJsonrpc },
])("$name", ({ contender }) => {
  it("hears every notification of the feeder, unchanged and in order", async () => {
    const sent = notifications(1000);
    const heard: unknown[] = [];
    const { promise: finished, resolve } = Promise.withResolvers<void>();
    const listeners = [...new Set(sent.map(({ method }) => method))].map((method) => {
      const listener = (params: unknown): void => {
        if (heard.push({ method, params }) === sent.length) resolve();
      };
      return [method, listener] as const;
    });
    await using child = await startChild("feeder.ts", [contender.framing, "notifications", "1000"], signal);
    await using stack = new AsyncDisposableStack();
    stack.use(contender.open(child, new Map(listeners)));
    child.output.write("go");
    await Promise.race([finished, child.died]);
    expect(heard).toEqual(sent);
  });

  it("hears one message that spans many chunks", async () => {
    const { promise: heard, resolve } = Promise.withResolvers<unknown>();
    await using child = await startChild("feeder.ts", [contender.framing, "long", "300000"], signal);
    await using stack = new AsyncDisposableStack();
    stack.use(contender.open(child, new Map([["item/completed", resolve]])));
    child.output.write("go");
    expect(await Promise.race([heard, child.died])).toEqual(longMessage(300_000).params);
  });

  it("gets an answer to each of many calls at once", async () => {
    await using child = await startChild("responder.ts", [contender.framing], signal);
    await using connection = contender.open(child, new Map());
    const answers = Array.from({ length: 50 }, () => connection.call("thread/read", { threadId: "1" }));
    for (const answer of await Promise.race([Promise.all(answers), child.died])) {
      expect(answer).toHaveProperty("thread.ephemeral", false);
    }
  });
});

it("sends messages of the size that an app-server sends", () => {
  const sizes = notifications(1000).map((message) => JSON.stringify(message).length);
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(200);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(300);
});

it("does not start a child for a run that was interrupted", async () => {
  await expect(startChild("responder.ts", ["lines"], AbortSignal.abort())).rejects.toThrow(/abort/);
});
