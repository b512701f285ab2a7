import { setTimeout as delay } from "node:timers/promises";
import { type Check, notApplicable, notVerified } from "../harness/check.ts";
import { checkStream } from "../harness/stream-rules.ts";
import { forSpawnAndResume } from "../harness/spawn-and-resume.ts";
import { assertThat, waitFor } from "../harness/assertions.ts";

const tier = "event-contract";

/** Checks of the guarantees for the reader of one stream. */
export const STREAM_CHECKS: readonly Check[] = [
  ...forSpawnAndResume([
    {
      id: "reports-text",
      tier,
      title: "reports the agent's text, and ends with a successful result",
      earns: true,
      run: async (context, openedBy) => {
        const words = context.nonce();
        const session = await context.open(openedBy, context.scenarios.says(words));
        await session.readToEnd();
        checkStream(session);
        assertThat(
          session.text.includes(words),
          `the agent should say "${words}", but said "${session.text}"`,
        );
        const { terminal } = session;
        assertThat(
          terminal?.kind === "result" && terminal.success,
          () => `it ended with ${JSON.stringify(terminal)}`,
        );
      },
    },
    {
      id: "text-is-not-repeated",
      tier,
      title: "reports text once, not as deltas and again as a whole message",
      run: async (context, openedBy) => {
        const words = context.nonce();
        const session = await (await context.open(openedBy, context.scenarios.says(words))).readToEnd();
        const times = session.text.split(words).length - 1;
        assertThat(times === 1, `the agent said "${words}" once, but it was reported ${times} times`);
      },
    },
    {
      id: "slow-reader",
      tier,
      title: "loses no text when the reader is slow",
      run: async (context, openedBy) => {
        const words = context.nonce();
        const session = await context.open(openedBy, context.scenarios.says(words));
        do await delay(context.limits.slowReaderMs);
        while (await session.next());
        checkStream(session);
        assertThat(
          session.text.includes(words),
          `the slow reader should get "${words}", but got "${session.text}"`,
        );
      },
    },
    {
      id: "one-reader",
      tier,
      title: "refuses a second reader with events_taken, and keeps serving the first",
      run: async (context, openedBy) => {
        const session = await context.open(openedBy, context.scenarios.says(context.nonce()));
        await session.next();
        await context.expectRefusal("a second reader", ["events_taken"], async () => {
          await session.handle.events[Symbol.asyncIterator]().next();
        });
        checkStream(await session.readToEnd());
      },
    },
  ]),
  {
    id: "result-has-message",
    tier,
    title: "repeats the agent's last message in the result",
    run: async (context) => {
      const session = await context.recorded();
      const { terminal } = session;
      if (terminal?.kind !== "result") throw notVerified("the session did not end with a result");
      assertThat(
        terminal.message !== "" && session.text.includes(terminal.message),
        `the message of the result should be part of the agent's text, but is "${terminal.message}"`,
      );
    },
  },
  {
    id: "concurrent-reads",
    tier,
    title: "answers concurrent reads in order",
    run: async (context) => {
      const session = await context.spawn(context.scenarios.says(context.nonce()));
      const reader = session.handle.events[Symbol.asyncIterator]();
      const reads = [reader.next(), reader.next(), reader.next()];
      const results = await waitFor("three concurrent reads", context.limits.sessionMs, Promise.all(reads));
      const kinds = results.map(({ value }) => (value as { kind?: string } | undefined)?.kind);
      assertThat(
        kinds[0] === "init" && kinds.filter((kind) => kind === "init").length === 1,
        `three concurrent reads should return init and the next two events, but returned ${kinds.join(", ")}`,
      );
    },
  },
  {
    id: "usage-is-reported",
    tier,
    title: "reports the cost so far during a session with more than one model call",
    run: async (context) => {
      const spec = context.scenarios.callsModelTwice?.();
      if (!spec) throw notVerified("there is no scenario `callsModelTwice`");
      const session = await (await context.spawn(spec)).readToEnd();
      if (session.terminal?.cost.inputTokens === undefined)
        throw notApplicable("the provider does not report tokens");
      const reported = session.events.filter(({ kind }) => kind === "usage");
      assertThat(reported.length > 0, `there was no usage event; events: ${session.kinds}`);
      const { turns } = session.terminal.cost;
      assertThat(
        turns === undefined || turns > 1,
        `the model was called more than once, but \`turns\` is ${turns}`,
      );
    },
  },
];
