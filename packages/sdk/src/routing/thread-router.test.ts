import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { command, message, TurnNotifications, userMessage } from "../../test/notices.ts";
import { CodexError } from "../errors.ts";
import { ThreadRouter } from "./thread-router.ts";
import type { CodexEvent, RawMessage } from "../events/event.ts";

const crash = new CodexError("app_server_crashed", "gone");

function routerAnd(): {
  router: ThreadRouter;
  receive: (...messages: RawMessage[]) => void;
  /** Closes the router and returns all events of its common stream. */
  seen: () => Promise<CodexEvent[]>;
} {
  const router = new ThreadRouter();
  const events = router.events.read();
  return {
    router,
    receive: (...messages) => {
      for (const raw of messages) router.route(raw);
    },
    seen: async () => {
      router.close();
      return Array.fromAsync(events);
    },
  };
}

describe("ThreadRouter", () => {
  it("keeps the events of a subagent's thread apart from its parent's turn", async () => {
    const { router, receive, seen } = routerAnd();
    const [parent, child] = [new TurnNotifications("parent", "p"), new TurnNotifications("child", "c")];
    const thread = router.hold("parent");
    const reader = thread.events.read();
    receive(parent.started());
    const live = thread.activeTurn;
    receive(child.started(), child.itemCompleted(message("m", "from the child")), child.usage(99, 99));
    expect(router.item("child", "m")).toEqual(message("m", "from the child"));
    receive(child.completed(), parent.itemCompleted(message("m", "from the parent")), parent.completed());
    expect(live?.end).toMatchObject({
      result: { finalResponse: "from the parent", usage: { totalTokens: 0 } },
    });
    const all = await seen();
    expect(all.filter(({ type }) => type === "turn.completed").map(({ threadId }) => threadId)).toEqual([
      "child",
      "parent",
    ]);
    expect((await Array.fromAsync(reader)).every(({ threadId }) => threadId === "parent")).toBe(true);
  });

  it("drops the channel of an unheld thread when its turn ends", () => {
    const { router, receive } = routerAnd();
    const say = new TurnNotifications("child", "c");
    receive(say.started());
    expect(router.find("child")?.activeTurn?.turnId).toBe("c");
    receive(say.completed());
    expect(router.find("child")).toBeUndefined();
    receive(say.started());
    expect(router.find("child")?.activeTurn).toBeUndefined();
  });

  it("starts no turn for late output of a command of an unheld thread", async () => {
    const { router, receive, seen } = routerAnd();
    const say = new TurnNotifications("child", "c");
    receive(say.started(), say.itemStarted(command("x")), say.completed());
    receive(say.output("x", "more"), say.itemCompleted(command("x", "more")));
    expect(router.find("child")).toBeUndefined();
    expect((await seen()).at(-1)).toMatchObject({ type: "item.completed", late: true });
  });

  it.each<[string, RawMessage]>([
    [
      "a status change",
      { method: "thread/status/changed", params: { threadId: "far", status: { type: "active" } } },
    ],
    [
      "the start of a thread",
      { method: "thread/started", params: { thread: { id: "far", parentThreadId: null } } },
    ],
    ["usage", new TurnNotifications("far", "t").usage(1, 1)],
    ["the end of a turn", new TurnNotifications("far", "t").completed()],
    ["an unknown method", { method: "thread/new", params: { threadId: "far", turnId: "t" } }],
  ])("creates no channel for %s", async (_, raw) => {
    const { router, receive, seen } = routerAnd();
    receive(raw);
    expect(router.find("far")).toBeUndefined();
    expect(await seen()).toMatchObject([{ threadId: "far" }]);
  });

  it("publishes events without a thread to the common stream", async () => {
    const { router, receive, seen } = routerAnd();
    receive({ method: "account/updated", params: { authMode: null } });
    router.publish({ type: "warning", kind: "version", message: "newer" });
    router.publish({ type: "warning", kind: "server", message: "elsewhere", threadId: "far" });
    expect((await seen()).map(({ type }) => type)).toEqual(["notice", "warning", "warning"]);
  });

  it("publishes every event once to the common stream, including the SDK's own warnings", async () => {
    const { router, receive, seen } = routerAnd();
    const say = new TurnNotifications("thread", "t");
    const channel = router.hold("thread");
    receive(say.started(), say.itemStarted(userMessage("u1", "theirs")));
    channel.expectStart("mine");
    receive(say.itemStarted(userMessage("u2", "mine")));
    router.publish({ type: "warning", kind: "server", message: "about it", threadId: "thread", turnId: "t" });
    receive(say.completed());
    expect((await seen()).map((event) => (event.type === "warning" ? event.kind : event.type))).toEqual([
      "turn.started",
      "item.started",
      "item.started",
      "steered",
      "server",
      "turn.completed",
    ]);
  });

  it("ends each turn once and keeps only held threads if the server is lost", async () => {
    const { router, receive, seen } = routerAnd();
    router.hold("mine");
    const ends: string[] = [];
    router.onTurnEnd(({ threadId }) => ends.push(threadId));
    receive(new TurnNotifications("mine", "1").started(), new TurnNotifications("child", "2").started());
    router.failAll(crash);
    router.failAll(crash);
    expect(ends).toEqual(["mine", "child"]);
    expect(router.find("mine")?.activeTurn).toBeUndefined();
    expect(router.find("child")).toBeUndefined();
    expect((await seen()).filter(({ type }) => type === "turn.failed")).toHaveLength(2);
  });

  it("ends a turn once if its end is reported twice", async () => {
    const { router, receive, seen } = routerAnd();
    router.hold("thread");
    receive(new TurnNotifications("thread", "t").started());
    const turn = router.find("thread")?.activeTurn;
    if (!turn) throw new Error("no turn");
    router.fail(turn, crash);
    router.fail(turn, crash);
    router.failAll(crash);
    receive(new TurnNotifications("thread", "t").completed());
    expect((await seen()).map(({ type }) => type)).toEqual(["turn.started", "turn.failed", "notice"]);
    expect(turn.end?.type).toBe("turn.failed");
  });

  it("ends the turns of a released thread and ignores it until it is held again", async () => {
    const { router, receive, seen } = routerAnd();
    const say = new TurnNotifications("thread", "t");
    const channel = router.hold("thread");
    receive(say.started());
    const turn = channel.activeTurn;
    router.release("thread");
    expect(turn?.end).toMatchObject({ type: "turn.failed", error: { code: "closed" } });
    receive(say.delta("m", "the server goes on"), say.itemStarted(message("m2", "")));
    expect(router.find("thread")).toBeUndefined();
    const again = router.hold("thread");
    expect(again).not.toBe(channel);
    receive(say.delta("m", "and on"));
    expect(again.activeTurn?.turnId).toBe("t");
    expect((await seen()).length).toBeGreaterThan(4);
  });

  it("ends the streams of a released thread", async () => {
    const { router } = routerAnd();
    const events = router.hold("thread").events.read();
    const next = events.next();
    router.release("thread");
    expect(await next).toEqual({ value: undefined, done: true });
  });

  it("ends everything when it closes", async () => {
    const { router, receive } = routerAnd();
    receive(new TurnNotifications("child", "c").started());
    const turn = router.find("child")?.activeTurn;
    router.close();
    expect(turn?.end).toMatchObject({ error: { code: "closed" } });
    expect([...router.heldChannels()]).toEqual([]);
  });

  it("retains nothing of 10,000 ended turns", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const used = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const router = new ThreadRouter();
    const channel = router.hold("thread");
    // Each ID is large, so that a leak is visible.
    const large = "x".repeat(5_000);
    const round = (number: number): void => {
      const say = new TurnNotifications("thread", `t${number}`);
      const own = `${number} ${large}`;
      const start = channel.expectStart(own);
      if (number % 3 > 0) router.route(say.started());
      if (number % 3 === 1) router.route(say.itemStarted(userMessage(`u${number}`, own)));
      if (number % 5 > 0) start.claim(say.turnId);
      start.done();
      channel.turnOfMessage(`${own} queued`).stop();
      channel.nextTurn().stop();
      router.route(say.itemStarted(command(`c${number} ${large}`)));
      router.route(say.output(`c${number} ${large}`, large));
      router.route(number % 7 === 0 ? say.completed({ status: "failed" }) : say.completed());
      const child = new TurnNotifications(`child ${own}`, `child turn ${number}`);
      router.route(child.started());
      router.route(child.completed());
      router.hold(`released ${number}`);
      router.release(`released ${number}`);
    };
    for (let number = 0; number < 5_000; number += 1) round(number);
    const before = used();
    for (let number = 5_000; number < 15_000; number += 1) round(number);
    expect(used() - before).toBeLessThan(5_000_000);
    expect(channel.liveTurns).toEqual([]);
  });

  it("routes 200,000 events of a hundred threads", async () => {
    const { router, receive } = routerAnd();
    const threads = Array.from(
      { length: 100 },
      (_, number) => new TurnNotifications(`thread ${number}`, `turn ${number}`),
    );
    for (const { threadId } of threads) router.hold(threadId);
    for (const say of threads) receive(say.started(), say.itemStarted(message("m", "")));
    for (let number = 0; number < 2_000; number += 1)
      for (const say of threads) receive(say.delta("m", "0123456789"));
    const turns = threads.map(({ threadId }) => router.find(threadId)?.activeTurn);
    for (const say of threads) receive(say.completed({ status: "interrupted" }));
    for (const turn of turns) expect(turn?.end?.result.finalResponse).toHaveLength(20_000);
  });
});
