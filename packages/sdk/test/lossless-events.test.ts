import { say } from "@codexkit/scripted-model";
import { launchCodex } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { message, TurnNotifications } from "./notices.ts";
import type { Codex } from "../src/codex.ts";
import { CodexError } from "../src/errors.ts";
import type { Thread } from "../src/thread/thread.ts";
import type { Turn } from "../src/turn/turn.ts";
import type { CodexEvent } from "../src/events/event.ts";
import { ThreadRouter } from "../src/routing/thread-router.ts";
import { LOSSLESS_LIMITS } from "../src/events/lossless-queue.ts";

/** Resolves when nothing more is read from codex, so that responses don't arrive either. */
async function readingStops(thread: Thread): Promise<void> {
  for (;;) {
    const failure: unknown = await thread.read({ timeoutMs: 1_000 }).catch((error: unknown) => error);
    // A thread that is not stored yet is rejected immediately, which proves nothing about reading.
    if (CodexError.is(failure) && failure.code === "timeout") return;
  }
}

/** Starts a turn of one-character deltas, and a reader that does not read until the server is paused. */
async function pausedTurn(
  text: string,
): Promise<
  AsyncDisposable & { codex: Codex; thread: Thread; turn: Turn; reader: AsyncIterable<CodexEvent> }
> {
  const stage = await launchCodex({ model: () => say(text, { chunkSize: 1 }) });
  const { codex } = stage;
  const thread = await codex.startThread({ cwd: stage.workspace });
  const reader = codex.events({ lossless: true });
  const turn = thread.run("go");
  await readingStops(thread);
  return { codex, thread, turn, reader, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() };
}

describe("a lossless reader", () => {
  it("pauses reading from codex while it is behind, and gets every event unmerged", async () => {
    const text = "0123456789".repeat(2_000);
    await using paused = await pausedTurn(text);
    const { thread, turn, reader } = paused;
    const deltas: string[] = [];
    for await (const event of reader) {
      expect(event).not.toMatchObject({ type: "warning", kind: "gap" });
      if (event.type === "item.delta") deltas.push(event.delta);
      if (event.type === "turn.completed") break;
    }
    expect(deltas.join("")).toBe(text);
    expect(Math.max(...deltas.map(({ length }) => length))).toBe(1);
    expect((await turn).finalResponse).toBe(text);
    // A reader that has returned does not pause reading.
    expect((await thread.run("again")).finalResponse).toBe(text);
  });

  it("gets the events from before the crash of codex", async () => {
    const text = "0123456789".repeat(500);
    await using paused = await pausedTurn(text);
    const { codex, turn, reader } = paused;
    process.kill(codex.pid ?? 0, "SIGKILL");
    const seen: CodexEvent[] = [];
    for await (const event of reader) {
      seen.push(event);
      if (event.type === "turn.failed") break;
    }
    const deltas = seen.flatMap((event) => (event.type === "item.delta" ? [event.delta] : []));
    expect(deltas.length).toBeGreaterThan(LOSSLESS_LIMITS.unreadEvents / 2);
    expect(text.startsWith(deltas.join(""))).toBe(true);
    await expect(turn).rejects.toMatchObject({ code: "app_server_crashed" });
  });

  it("pauses the server beyond its limit until it has caught up or stopped", async () => {
    const changes: boolean[] = [];
    const router = new ThreadRouter((isPaused) => changes.push(isPaused));
    router.hold("thread");
    const notices = new TurnNotifications("thread", "t");
    const reader = router.readLossless();
    const fill = (): void => {
      for (let count = 0; count < LOSSLESS_LIMITS.unreadEvents; count += 1) {
        router.route(notices.itemCompleted(message(`m${count}`, "x")));
      }
    };
    fill();
    expect(changes).toEqual([true]);
    await reader.next();
    expect(changes).toEqual([true, false]);
    fill();
    expect(changes).toEqual([true, false, true]);
    await reader.return?.();
    expect(changes).toEqual([true, false, true, false]);
    fill();
    expect(changes).toHaveLength(4);
  });
});
