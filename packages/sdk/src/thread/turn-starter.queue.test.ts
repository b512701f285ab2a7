import { describe, expect, it } from "vitest";
import { settled } from "../../test/fake-caller.ts";
import { TurnNotifications, userMessage } from "../../test/notices.ts";
import { StarterFixture } from "../../test/starter-fixture.ts";
import { CodexError } from "../errors.ts";

describe("TurnStarter with Codex's queue", () => {
  it("resolves a queued run with the turn that starts with its message", async () => {
    const fixture = new StarterFixture();
    const { turn } = await fixture.beginFirst();
    const [one, two] = [fixture.run("queue"), fixture.run("queue")];
    await settled();
    const [first] = fixture.caller.made("thread/queue/add");
    first?.answer({ queuedSubmission: { id: "q1" } });
    await settled();
    const second = fixture.caller.last("thread/queue/add");
    second.answer({ queuedSubmission: { id: "q2" } });
    fixture.receive(turn.completed());
    const turns = [
      new TurnNotifications("thread", "goal"),
      new TurnNotifications("thread", "q2"),
      new TurnNotifications("thread", "q1"),
    ] as const;
    const messages = [null, second.params["clientUserMessageId"], first?.params["clientUserMessageId"]] as (
      | string
      | null
    )[];
    for (const [number, next] of turns.entries()) {
      fixture.receive(
        next.started(),
        next.itemStarted(userMessage(`u${number}`, messages[number] ?? null)),
        next.completed(),
      );
    }
    await settled();
    expect([one.turnId, two.turnId]).toEqual(["q1", "q2"]);
    expect(fixture.caller.made("turn/start")).toHaveLength(1);
  });

  it("resolves a queued run whose turn starts before the response of the queue", async () => {
    const fixture = new StarterFixture();
    const { turn } = await fixture.beginFirst();
    const mine = fixture.run("queue");
    await settled();
    const { params, answer } = fixture.caller.last("thread/queue/add");
    const next = new TurnNotifications("thread", "next");
    fixture.receive(
      turn.completed(),
      next.started(),
      next.itemStarted(userMessage("u", String(params["clientUserMessageId"]))),
    );
    answer({ queuedSubmission: { id: "q" } });
    await settled();
    expect(mine.turnId).toBe("next");
  });

  it("restarts the queue after an interrupt, before any other turn", async () => {
    const fixture = new StarterFixture();
    const { turn } = await fixture.beginFirst();
    const { queued, messageId } = await fixture.queue();
    fixture.receive(turn.completed({ status: "interrupted" }));
    const [other, waiting] = [fixture.run("reject"), fixture.run("wait")];
    await settled();
    expect(other.error?.code).toBe("thread_busy");
    const next = new TurnNotifications("thread", "next");
    fixture.caller.last("thread/queue/start").answer({ turn: next.turn("inProgress") });
    fixture.receive(next.started(), next.itemStarted(userMessage("u", messageId)));
    await settled();
    expect(queued.turnId).toBe("next");
    fixture.receive(next.completed());
    await fixture.begin("last");
    expect(waiting.turnId).toBe("last");
    expect(fixture.caller.made("turn/start")).toHaveLength(2);
  });

  it("ends a queued run as interrupted when it is cancelled", async () => {
    const fixture = new StarterFixture();
    await fixture.beginFirst();
    const cancel = new AbortController();
    const request = { params: { input: [] }, signal: undefined, cancelled: cancel.signal };
    const [queued, waiting] = [
      fixture.starter.start({ ...request, whenBusy: "queue" }),
      fixture.starter.start({ ...request, whenBusy: "wait" }),
    ];
    await settled();
    fixture.caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
    await settled();
    cancel.abort();
    await settled();
    fixture.caller.last("thread/queue/delete").answer({ deleted: true });
    for (const mine of [queued, waiting]) {
      expect((await mine).end).toMatchObject({ type: "turn.interrupted", turnId: "" });
    }
    expect(fixture.caller.made("turn/start")).toHaveLength(1);
  });

  it("ends a queued run as interrupted when another client removes it", async () => {
    const fixture = new StarterFixture({ sleep: async () => {} });
    const { turn } = await fixture.beginFirst();
    const { queued } = await fixture.queue();
    fixture.caller.respond = ({ method, answer, refuse }) => {
      if (method === "thread/queue/list") answer({ data: [], nextCursor: null });
      else if (method === "thread/queue/start") refuse("turn_not_found");
    };
    fixture.receive(turn.completed());
    await settled();
    expect((await queued.promise).end).toMatchObject({ type: "turn.interrupted", turnId: "" });
  });

  it("fails a queued run if its queue can't be restarted", async () => {
    const fixture = new StarterFixture();
    const { turn } = await fixture.beginFirst();
    const { queued } = await fixture.queue();
    fixture.receive(turn.completed({ status: "interrupted" }));
    await settled();
    fixture.caller.last("thread/queue/start").refuse("thread_not_found");
    await settled();
    expect(queued.error?.code).toBe("thread_not_found");
  });

  it("rejects a message ID that is already queued", async () => {
    const fixture = new StarterFixture();
    await fixture.beginFirst();
    fixture.run("queue", undefined, { clientUserMessageId: "mine" });
    const second = fixture.run("queue", undefined, { clientUserMessageId: "mine" });
    await settled();
    fixture.caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
    await settled();
    expect(second.error?.code).toBe("invalid_argument");
    expect(fixture.caller.made("thread/queue/add")).toHaveLength(1);
  });

  it("rejects queued runs if the server is lost, and starts waiting ones", async () => {
    const fixture = new StarterFixture();
    await fixture.beginFirst();
    const [queued, waiting] = [fixture.run("queue"), fixture.run("wait")];
    await settled();
    fixture.caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
    await settled();
    fixture.channel.failAll(new CodexError("app_server_crashed", "gone"));
    await settled();
    expect(queued.error?.code).toBe("app_server_crashed");
    await fixture.begin("t2");
    expect(waiting.turnId).toBe("t2");
  });

  describe("with a signal", () => {
    it("removes the input of an aborted call from the queue", async () => {
      const fixture = new StarterFixture();
      await fixture.beginFirst();
      const abort = new AbortController();
      const { queued } = await fixture.queue(abort.signal);
      abort.abort();
      await settled();
      expect(queued.error?.code).toBe("aborted");
      expect(fixture.caller.last("thread/queue/delete").params).toEqual({
        threadId: "thread",
        queuedSubmissionId: "q",
      });
      fixture.caller.last("thread/queue/delete").answer({ deleted: true });
    });

    it("removes the input of a call that was aborted before the response of the queue", async () => {
      const fixture = new StarterFixture();
      await fixture.beginFirst();
      const abort = new AbortController();
      const mine = fixture.run("queue", abort.signal);
      await settled();
      abort.abort();
      await settled();
      expect(mine.error?.code).toBe("aborted");
      fixture.caller.last("thread/queue/add").answer({ queuedSubmission: { id: "q" } });
      await settled();
      expect(fixture.caller.made("thread/queue/delete")).toHaveLength(1);
    });

    it("stops a queued turn that starts just as its call is aborted", async () => {
      const fixture = new StarterFixture();
      const { turn } = await fixture.beginFirst();
      const abort = new AbortController();
      const { queued, messageId } = await fixture.queue(abort.signal);
      abort.abort();
      await settled();
      expect(queued.error?.code).toBe("aborted");
      fixture.caller.last("thread/queue/delete").answer({ deleted: false });
      const next = new TurnNotifications("thread", "next");
      fixture.receive(turn.completed(), next.started(), next.itemStarted(userMessage("u", messageId)));
      await settled();
      expect(fixture.caller.last("turn/interrupt").params).toEqual({ threadId: "thread", turnId: "next" });
    });
  });
});
