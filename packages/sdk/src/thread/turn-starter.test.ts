import { describe, expect, it } from "vitest";
import { settled } from "../../test/fake-caller.ts";
import { TurnNotifications } from "../../test/notices.ts";
import { StarterFixture } from "../../test/starter-fixture.ts";

describe("TurnStarter", () => {
  it("starts a turn on an idle thread with every value of whenBusy", async () => {
    for (const whenBusy of ["reject", "steer", "queue", "wait"] as const) {
      const fixture = new StarterFixture();
      const mine = fixture.run(whenBusy, undefined, { model: "some" });
      await fixture.begin("t");
      expect(mine.turnId).toBe("t");
      expect(fixture.caller.last("turn/start").params).toMatchObject({
        threadId: "thread",
        model: "some",
        clientUserMessageId: expect.any(String),
      });
    }
  });

  it("starts one of two concurrent calls, and rejects the other with thread_busy", async () => {
    const fixture = new StarterFixture();
    const [first, second] = [fixture.run("reject"), fixture.run("reject")];
    await fixture.begin("t");
    await settled();
    expect(fixture.caller.made("turn/start")).toHaveLength(1);
    expect(first.turnId).toBe("t");
    expect(second.error?.code).toBe("thread_busy");
    expect(second.error?.message).toContain("Turn t ");
  });

  it("starts the second of two calls if the first turn has already ended", async () => {
    const fixture = new StarterFixture();
    const [first, second] = [fixture.run("reject"), fixture.run("reject")];
    await settled();
    const say = new TurnNotifications("thread", "quick");
    fixture.receive(say.started(), say.completed());
    fixture.caller.last("turn/start").answer({ turn: say.turn("inProgress") });
    await settled();
    expect((await first.promise).end?.type).toBe("turn.completed");
    expect(fixture.caller.made("turn/start")).toHaveLength(2);
    fixture.caller.last("turn/start").answer({ turn: { id: "t2" } });
    expect((await second.promise).turnId).toBe("t2");
  });

  it("starts waiting calls in order", async () => {
    const fixture = new StarterFixture();
    const runs = [fixture.run("wait"), fixture.run("wait"), fixture.run("wait")];
    for (const [number, mine] of runs.entries()) {
      const say = await fixture.begin(`t${number}`);
      expect(mine.turnId).toBe(`t${number}`);
      expect(fixture.caller.made("turn/start")).toHaveLength(number + 1);
      fixture.receive(say.completed());
    }
  });

  it("makes waiting calls wait for turns of other clients too", async () => {
    const fixture = new StarterFixture();
    const theirs = new TurnNotifications("thread", "theirs");
    fixture.receive(theirs.started());
    const mine = fixture.run("wait");
    await settled();
    expect(fixture.caller.calls).toEqual([]);
    fixture.receive(theirs.completed());
    await fixture.begin("mine");
    expect(mine.turnId).toBe("mine");
  });

  it("adds input to the running turn with whenBusy: steer", async () => {
    const fixture = new StarterFixture();
    const { first } = await fixture.beginFirst();
    const context = { additionalContext: { note: { text: "x" } } };
    const second = fixture.run("steer", undefined, context);
    await settled();
    expect(fixture.caller.last("turn/steer").params).toEqual({
      threadId: "thread",
      expectedTurnId: "t",
      input: [],
      ...context,
    });
    fixture.caller.last("turn/steer").answer({ turnId: "t" });
    expect(await second.promise).toBe(await first.promise);
  });

  it("starts a new turn if the turn to steer ends meanwhile", async () => {
    const fixture = new StarterFixture();
    const { turn } = await fixture.beginFirst();
    const second = fixture.run("steer");
    await settled();
    fixture.caller.last("turn/steer").refuse("turn_not_active");
    await settled();
    expect(fixture.caller.made("turn/start")).toHaveLength(1);
    fixture.receive(turn.completed());
    await fixture.begin("t2");
    expect(second.turnId).toBe("t2");
  });

  it("does not delay other calls while it waits for the end of a turn that can't be steered any more", async () => {
    const fixture = new StarterFixture();
    await fixture.beginFirst();
    fixture.run("steer");
    await settled();
    fixture.caller.last("turn/steer").refuse("turn_not_active");
    const third = fixture.run("reject");
    await settled();
    expect(third.error?.code).toBe("thread_busy");
  });

  it("explains why a turn accepts no input", async () => {
    const fixture = new StarterFixture();
    fixture.run("reject");
    await fixture.begin("review");
    const second = fixture.run("steer");
    await settled();
    fixture.caller.last("turn/steer").refuse("turn_not_steerable");
    await settled();
    expect(second.error?.code).toBe("turn_not_steerable");
  });

  it.each(["steer", "queue"] as const)("rejects settings that %s would ignore", async (whenBusy) => {
    const fixture = new StarterFixture();
    await fixture.beginFirst();
    const second = fixture.run(whenBusy, undefined, { model: "other", effort: undefined });
    await settled();
    expect(second.error).toMatchObject({
      code: "invalid_argument",
      message: expect.stringMatching(/; model can't be combined/),
    });
    expect(fixture.caller.calls).toHaveLength(1);
  });

  it("starts the next call after a failed one", async () => {
    const fixture = new StarterFixture();
    const orders = [
      [fixture.run("reject"), fixture.run("reject")],
      [fixture.run("wait"), fixture.run("wait")],
    ];
    for (const [number, mine] of orders.flat().entries()) {
      await settled();
      expect(fixture.caller.made("turn/start")).toHaveLength(number + 1);
      fixture.caller.last("turn/start").refuse("request_failed");
      await settled();
      expect(mine.error?.code).toBe("request_failed");
    }
    expect(fixture.channel.activeTurn).toBeUndefined();
    const last = fixture.run("reject");
    await fixture.begin("t");
    expect(last.turnId).toBe("t");
  });

  describe("with a signal", () => {
    it("sends nothing if it was aborted before", async () => {
      for (const whenBusy of ["reject", "steer", "queue", "wait"] as const) {
        const fixture = new StarterFixture();
        const mine = fixture.run(whenBusy, AbortSignal.abort("why"));
        await settled();
        expect(mine.error).toMatchObject({ code: "aborted", cause: "why" });
        expect(fixture.caller.calls).toEqual([]);
      }
    });

    it("removes a waiting call from any position, and starts those behind it", async () => {
      const fixture = new StarterFixture();
      const { turn } = await fixture.beginFirst();
      const aborts = [new AbortController(), new AbortController()];
      const [first, second] = aborts.map(({ signal }) => fixture.run("wait", signal));
      const third = fixture.run("wait");
      aborts[1]?.abort();
      await settled();
      expect(second?.error?.code).toBe("aborted");
      expect(first?.error).toBeUndefined();
      aborts[0]?.abort();
      await settled();
      expect(first?.error?.code).toBe("aborted");
      fixture.receive(turn.completed());
      await fixture.begin("t2");
      expect(third.turnId).toBe("t2");
    });

    it("stops the turn that an aborted call has started", async () => {
      const fixture = new StarterFixture();
      const abort = new AbortController();
      const mine = fixture.run("reject", abort.signal);
      await settled();
      abort.abort();
      await settled();
      expect(mine.error?.code).toBe("aborted");
      const next = fixture.run("wait");
      const say = await fixture.begin("t");
      expect(fixture.caller.last("turn/interrupt").params).toEqual({ threadId: "thread", turnId: "t" });
      fixture.caller.last("turn/interrupt").answer({});
      expect(fixture.caller.made("turn/start")).toHaveLength(1);
      fixture.receive(say.completed({ status: "interrupted" }));
      await fixture.begin("t2");
      expect(next.turnId).toBe("t2");
    });
  });
});
