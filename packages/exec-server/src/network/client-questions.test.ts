import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ClientQuestions, readPolicyAnswer } from "./client-questions.ts";

const never = new AbortController().signal;

describe("a question to the client", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function questions(reached = true) {
    const sent: { id: number; method: string }[] = [];
    const asker = new ClientQuestions((text) => {
      sent.push(JSON.parse(text) as { id: number; method: string });
      return reached;
    });
    const ask = (signal = never) => asker.ask("q", {}, { timeoutMs: 1_000, signal });
    return { asker, ask, sent };
  }

  test("gets the answer that has its number, in any order", async () => {
    const { asker, ask, sent } = questions();
    const [first, second] = [ask(), ask()];
    expect(sent.map(({ id }) => id)).toEqual([1, 2]);
    expect(asker.answer("2", "two")).toBe(true);
    expect(asker.answer("1", "one")).toBe(true);
    expect([await first, await second]).toEqual(["one", "two"]);
  });

  test("that never was has no answer", () => {
    const { asker, ask } = questions();
    void ask();
    for (const id of ["2", "0", "-1", '"1"', "1e0", "9007199254740993"])
      expect(asker.answer(id, "x")).toBe(false);
  });

  test("that took too long is over, and its late answer is passed over", async () => {
    const { asker, ask } = questions();
    const answer = ask();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await answer).toBeUndefined();
    expect(asker.answer("1", "late")).toBe(true);
  });

  test("ends when its request ends, when it can't be sent, or when the client disconnects", async () => {
    const { asker, ask, sent } = questions();
    const gone = new AbortController();
    const waiting = ask(gone.signal);
    gone.abort();
    expect(await waiting).toBeUndefined();
    expect(await ask(gone.signal)).toBeUndefined();
    expect(sent).toHaveLength(1);
    const open = [ask(), ask()];
    asker.withdrawAll();
    expect(await Promise.all(open)).toEqual([undefined, undefined]);
    expect(await questions(false).ask()).toBeUndefined();
  });

  test("is not put beyond 256 at once", async () => {
    const { asker, ask, sent } = questions();
    const open = Array.from({ length: 256 }, () => ask());
    expect(await ask()).toBeUndefined();
    expect(sent).toHaveLength(256);
    expect(asker.answer("7", "x")).toBe(true);
    await open[6];
    void ask();
    expect(sent).toHaveLength(257);
    asker.withdrawAll();
  });
});

const denied = { type: "deny", reason: "not_allowed" };
test.each([
  [{ decision: { type: "allow" } }, { type: "allow" }],
  [{ decision: { type: "deny", reason: "no" } }, { type: "deny", reason: "no" }],
  [{ decision: { type: "ask", reason: "é".repeat(512) } }, { type: "ask", reason: "é".repeat(512) }],
  [{ decision: { type: "ask", reason: "é".repeat(513) } }, denied],
  [{ decision: { type: "deny", reason: "a\nb" } }, denied],
  [{ decision: { type: "deny", reason: "a\u0085b" } }, denied],
  [{ decision: { type: "deny" } }, denied],
  [{ decision: { type: "maybe" } }, denied],
  [{ decision: "allow" }, denied],
  ["allow", denied],
  [null, denied],
  [undefined, denied],
])("the answer %j means %j", (result, answer) => {
  expect(readPolicyAnswer(result)).toEqual(answer);
});
