import { expect, test } from "vitest";
import { Deadline } from "../limits/deadline.ts";
import { PromptSession } from "../session/session.ts";
import { collectFeedback, deadlineFeedback, type FeedbackProvider, staticFeedback } from "./feedback.ts";

/** Runs the providers after each of the given calls and returns what each call got. */
async function play(
  providers: readonly FeedbackProvider[],
  calls: readonly { at: number; files?: readonly string[] }[],
  errors: unknown[] = [],
): Promise<readonly string[]> {
  const session = new PromptSession();
  const texts: string[] = [];
  for (const [index, { at, files = [] }] of calls.entries()) {
    texts.push(
      await collectFeedback({
        providers,
        context: { session, deadline: new Deadline(60_000, () => at), calls: index + 1, tool: "t" },
        startedAt: 0,
        now: at,
        fileExists: (path) => files.includes(path),
        onError: (_provider, error) => errors.push(error),
      }),
    );
  }
  return texts;
}

test("runs every n calls", async () => {
  const texts = await play(
    [staticFeedback("hint", "Breathe.", { everyCalls: 2 })],
    [0, 1, 2, 3, 4].map((at) => ({ at })),
  );

  const advice = '<feedback provider="hint">\nBreathe.\n</feedback>';
  expect(texts).toEqual(["", advice, "", advice, ""]);
});

test("runs every n seconds, after the first call following the interval", async () => {
  const texts = await play(
    [staticFeedback("hint", "Breathe.", { everySeconds: 10 })],
    [{ at: 5_000 }, { at: 12_000 }, { at: 15_000 }, { at: 23_000 }],
  );

  expect(texts.map((text) => text !== "")).toEqual([false, true, false, true]);
});

test("runs once after a file is created", async () => {
  const texts = await play(
    [staticFeedback("hint", "Check it.", { fileCreated: "out" })],
    [{ at: 0 }, { at: 1, files: ["out"] }, { at: 2, files: ["out"] }],
  );

  expect(texts.map((text) => text !== "")).toEqual([false, true, false]);
});

test("the deadline provider reports how much time is left", async () => {
  expect(await play([deadlineFeedback({ everyCalls: 1 })], [{ at: 20_000 }])).toEqual([
    '<feedback provider="deadline">\n40 seconds are left until the deadline.\n</feedback>',
  ]);
});

test("a provider that fails is reported and adds nothing", async () => {
  const errors: unknown[] = [];
  const broken: FeedbackProvider = {
    name: "broken",
    triggers: [{ everyCalls: 1 }],
    provide: () => {
      throw new Error("out of order");
    },
  };

  expect(await play([broken, staticFeedback("hint", "Hi.", { everyCalls: 1 })], [{ at: 0 }], errors)).toEqual(
    ['<feedback provider="hint">\nHi.\n</feedback>'],
  );
  expect(errors).toMatchObject([{ message: "out of order" }]);
});
