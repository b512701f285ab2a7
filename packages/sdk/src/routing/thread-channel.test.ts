import { describe, expect, it, vi } from "vitest";
import { settled } from "../../test/fake-caller.ts";
import { command, message, TurnNotifications, tokens, userMessage } from "../../test/notices.ts";
import { CodexError } from "../errors.ts";
import type { CodexEvent, RawMessage } from "../events/event.ts";
import { parseNotification } from "../events/parse-notification.ts";
import type { LiveTurn } from "../turn/live-turn.ts";
import { ThreadChannel } from "./thread-channel.ts";

const crash = new CodexError("app_server_crashed", "gone");

function channelAnd(): {
  channel: ThreadChannel;
  receive: (...messages: RawMessage[]) => CodexEvent[];
  turn: (turnId: string) => TurnNotifications;
} {
  const channel = new ThreadChannel("thread");
  return {
    channel,
    receive: (...messages) => messages.map((raw) => channel.receive(parseNotification(raw))),
    turn: (turnId) => new TurnNotifications("thread", turnId),
  };
}

async function eventsOf(turn: LiveTurn): Promise<string[]> {
  return (await Array.fromAsync(turn.events.read())).map(({ type }) => type);
}

describe("ThreadChannel", () => {
  it("matches a call with its turn if the turn starts before the response, and keeps the early events", async () => {
    const { channel, receive, turn } = channelAnd();
    const say = turn("t");
    const start = channel.expectStart("mine");
    receive(say.started(), say.itemStarted(userMessage("u", "mine")));
    const live = start.claim("t");
    start.done();
    receive(say.completed());
    expect(await eventsOf(live)).toEqual(["turn.started", "item.started", "turn.completed"]);
    expect(channel.activeTurn).toBeUndefined();
  });

  it("matches a call with its turn if the turn ends before the response", async () => {
    const { channel, receive, turn } = channelAnd();
    const say = turn("t");
    const start = channel.expectStart("mine");
    receive(say.started(), say.itemCompleted(message("m", "quick")), say.completed());
    expect(channel.activeTurn).toBeUndefined();
    const live = start.claim("t");
    start.done();
    expect(await live.ended).toMatchObject({ type: "turn.completed", result: { finalResponse: "quick" } });
    expect(channel.activeTurn).toBeUndefined();
  });

  it("matches a call with its turn if the response arrives first", async () => {
    const { channel, receive, turn } = channelAnd();
    const start = channel.expectStart("mine");
    const live = start.claim("t");
    start.done();
    expect(channel.activeTurn).toBe(live);
    receive(turn("t").started(), turn("t").completed());
    expect(live.end?.type).toBe("turn.completed");
  });

  it("tracks turns of other clients, and calls listeners for them", () => {
    const { channel, receive, turn } = channelAnd();
    const received: string[] = [];
    const listening = channel.onTurn(({ turnId }) => received.push(turnId));
    receive(turn("queue").started());
    expect(channel.activeTurn?.turnId).toBe("queue");
    receive(turn("queue").completed(), turn("goal").started(), turn("goal").completed());
    listening[Symbol.dispose]();
    receive(turn("unheard").started());
    expect(received).toEqual(["queue", "goal"]);
  });

  it.each([
    ["an item", (say: TurnNotifications) => say.itemStarted(message("m", ""))],
    ["a delta", (say: TurnNotifications) => say.delta("m", "x")],
    [
      "a diff",
      (say: TurnNotifications) => ({
        method: "turn/diff/updated",
        params: { threadId: "thread", turnId: say.turnId, diff: "" },
      }),
    ],
  ])("recognises a turn that was already running by %s of it", (_, beginning) => {
    const { channel, receive, turn } = channelAnd();
    receive(beginning(turn("t")));
    expect(channel.activeTurn?.turnId).toBe("t");
  });

  it("flags item events after the end of their turn as late, and starts no turn for them", () => {
    const { channel, receive, turn } = channelAnd();
    const say = turn("t");
    receive(say.started(), say.itemStarted(command("c")), say.completed());
    const [output, end] = receive(say.output("c", "more"), say.itemCompleted(command("c", "all")));
    expect(output).toMatchObject({ type: "item.delta", delta: "more" });
    expect(end).toMatchObject({ type: "item.completed", late: true, item: command("c", "all") });
    expect(channel.activeTurn).toBeUndefined();
  });

  it("starts no turn for output of a command that was started a thousand turns ago", () => {
    const { channel, receive, turn } = channelAnd();
    for (let number = 0; number < 1_000; number += 1) {
      receive(turn(`t${number}`).started(), turn(`t${number}`).completed());
    }
    receive(turn("t0").output("c", "still here"));
    expect(channel.activeTurn).toBeUndefined();
  });

  it("starts no turn for usage that is repeated after a resume, and counts from it", () => {
    const { channel, receive, turn } = channelAnd();
    const [again] = receive(turn("old").usage(1_000, 30));
    expect(again).toMatchObject({ type: "usage.updated", total: tokens(1_000) });
    expect(channel.activeTurn).toBeUndefined();
    const [, update] = receive(turn("new").started(), turn("new").usage(1_000, 30));
    expect(update).toMatchObject({ usage: tokens(0) });
    const [more] = receive(turn("new").usage(1_040, 40));
    expect(more).toMatchObject({ type: "usage.updated", usage: tokens(40) });
  });

  it("starts no turn for the end of an unknown one, nor for later notifications", () => {
    const { channel, receive, turn } = channelAnd();
    const [end] = receive(turn("t").completed({ items: [message("m", "bye")] }));
    expect(end).toMatchObject({ type: "turn.completed", result: { finalResponse: "bye" } });
    receive(turn("t").output("c", "more"));
    expect(channel.activeTurn).toBeUndefined();
  });

  it("keeps two concurrent turns apart", () => {
    const { channel, receive, turn } = channelAnd();
    const [one, two] = [turn("1"), turn("2")];
    receive(
      one.started(),
      two.started(),
      one.itemCompleted(message("a", "one")),
      two.itemCompleted(message("a", "two")),
    );
    const [first, second] = channel.liveTurns;
    expect(channel.activeTurn).toBe(second);
    receive(two.completed());
    expect(channel.activeTurn).toBe(first);
    receive(one.completed());
    expect([first?.end?.result.finalResponse, second?.end?.result.finalResponse]).toEqual(["one", "two"]);
    expect(channel.activeTurn).toBeUndefined();
  });

  it("resolves the wait for the turn of a message", async () => {
    const { channel, receive, turn } = channelAnd();
    const awaited = channel.turnOfMessage("mine");
    receive(
      turn("other").started(),
      turn("other").itemStarted(userMessage("u0", "theirs")),
      turn("other").completed(),
    );
    receive(turn("t").started(), turn("t").itemStarted(userMessage("u", "mine")));
    expect(await awaited.turn).toBe(channel.activeTurn);
    awaited.stop();
  });

  it("resolves the wait for the next turn", async () => {
    const { channel, receive, turn } = channelAnd();
    const awaited = channel.nextTurn();
    receive(turn("t").started());
    expect((await awaited.turn).turnId).toBe("t");
    const stopped = channel.nextTurn();
    stopped.stop();
    receive(turn("t2").started());
    const silence = Symbol("silence");
    expect(await Promise.race([stopped.turn, settled().then(() => silence)])).toBe(silence);
  });

  it("ends each running turn exactly once and rejects all waits if the server is lost", async () => {
    const { channel, receive, turn } = channelAnd();
    const thread = channel.events.read();
    receive(turn("1").started(), turn("2").started());
    const turns = channel.liveTurns;
    const awaited = [channel.turnOfMessage("mine").turn, channel.nextTurn().turn];
    channel.failAll(crash);
    channel.failAll(crash);
    for (const promise of awaited) await expect(promise).rejects.toBe(crash);
    for (const live of turns) {
      expect(await live.ended).toMatchObject({
        type: "turn.failed",
        error: { code: "app_server_crashed", cause: crash },
      });
    }
    expect(channel.activeTurn).toBeUndefined();
    channel.close();
    const ends = (await Array.fromAsync(thread)).filter(({ type }) => type === "turn.failed");
    expect(ends).toHaveLength(2);
  });

  it("fails a turn if the server is lost right after it confirmed the start", () => {
    const { channel } = channelAnd();
    const start = channel.expectStart("mine");
    channel.failAll(crash);
    expect(start.claim("t").end).toMatchObject({ error: { code: "app_server_crashed" } });
    start.done();
    expect(channel.activeTurn).toBeUndefined();
  });

  it("resumes tracking a turn that continued while the server was unreachable", () => {
    const { channel, receive, turn } = channelAnd();
    receive(turn("t").started());
    channel.failAll(new CodexError("connection_lost", "the socket broke"));
    receive(turn("t").delta("m", "still here"));
    expect(channel.activeTurn?.turnId).toBe("t");
    receive(turn("t").completed());
    expect(channel.activeTurn).toBeUndefined();
  });

  it("rejects current and later waits once it is closed", async () => {
    const { channel, receive, turn } = channelAnd();
    receive(turn("t").started());
    const live = channel.activeTurn;
    const start = channel.expectStart("mine");
    const awaited = channel.turnOfMessage("other").turn;
    channel.close();
    expect(live?.end).toMatchObject({ type: "turn.failed", error: { code: "closed" } });
    await expect(awaited).rejects.toMatchObject({ code: "closed" });
    expect(start.claim("t2").end).toMatchObject({ error: { code: "closed" } });
    await expect(channel.turnOfMessage("late").turn).rejects.toMatchObject({ code: "closed" });
    await expect(channel.nextTurn().turn).rejects.toMatchObject({ code: "closed" });
  });

  it("warns if input for a new turn was added to a turn of another client", async () => {
    const { channel, receive, turn } = channelAnd();
    const say = turn("theirs");
    const thread = channel.events.read();
    receive(say.started(), say.itemStarted(userMessage("u1", "their message")));
    const start = channel.expectStart("mine");
    const live = start.claim("theirs");
    start.done();
    receive(say.itemStarted(userMessage("u2", "mine")), say.completed());
    const warning = { type: "warning", kind: "steered", turnId: "theirs" };
    expect(await Array.fromAsync(live.events.read())).toContainEqual(expect.objectContaining(warning));
    channel.close();
    expect(await Array.fromAsync(thread)).toContainEqual(expect.objectContaining(warning));
  });

  it("does not warn about input that started its turn or was meant to steer", async () => {
    const { channel, receive, turn } = channelAnd();
    const say = turn("t");
    const start = channel.expectStart("mine");
    receive(say.started(), say.itemStarted(userMessage("u1", "mine")));
    const live = start.claim("t");
    start.done();
    receive(say.itemStarted(userMessage("u2", "steered on purpose")), say.completed());
    expect(await eventsOf(live)).not.toContain("warning");
  });

  it("loses no event if a turn listener throws", async () => {
    const { channel, receive, turn } = channelAnd();
    const received = vi.fn<() => void>();
    channel.onTurn(() => {
      throw new Error("a bug of the program");
    });
    channel.onTurn(received);
    receive(turn("t").started());
    const live = channel.activeTurn;
    receive(turn("t").completed());
    expect(received).toHaveBeenCalledTimes(1);
    expect(live && (await eventsOf(live))).toEqual(["warning", "turn.started", "turn.completed"]);
  });

  it("publishes events that are not notifications to their turn", async () => {
    const { channel, receive, turn } = channelAnd();
    receive(turn("t").started());
    const live = channel.activeTurn;
    channel.publish({ type: "warning", kind: "server", message: "about t", threadId: "thread", turnId: "t" });
    channel.publish({ type: "warning", kind: "server", message: "about the thread", threadId: "thread" });
    receive(turn("t").completed());
    expect(live && (await eventsOf(live))).toEqual(["turn.started", "warning", "turn.completed"]);
  });
});
