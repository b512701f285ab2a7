import { setTimeout as delay } from "node:timers/promises";
import { type Check, notApplicable, notVerified } from "../check.ts";
import { obeysLaw } from "../law-of-the-stream.ts";
import { withTwins } from "../twins.ts";
import { holds, within } from "../within.ts";

const tier = "event-contract";

/** What a reader of a stream can rely on. */
export const STREAM_CHECKS: readonly Check[] = [
  ...withTwins([
    {
      id: "says-its-words",
      tier,
      title: "shows what the agent says, and succeeds when the agent does, with its last message",
      earns: true,
      run: async (bench, openedBy) => {
        const words = bench.nonce();
        const session = await bench.open(openedBy, bench.scenarios.says(words));
        await session.toEnd();
        obeysLaw(session);
        holds(session.text.includes(words), `the agent should say "${words}", and said "${session.text}"`);
        const { terminal } = session;
        holds(
          terminal?.kind === "result" && terminal.success,
          () => `it ended with ${JSON.stringify(terminal)}`,
        );
      },
    },
    {
      id: "words-come-once",
      tier,
      title: "shows each word of the agent once, not in parts and then as a whole",
      run: async (bench, openedBy) => {
        const words = bench.nonce();
        const session = await (await bench.open(openedBy, bench.scenarios.says(words))).toEnd();
        const times = session.text.split(words).length - 1;
        holds(times === 1, `the agent said "${words}" once, and it was shown ${times} times`);
      },
    },
    {
      id: "slow-reader",
      tier,
      title: "loses nothing of what is said to a reader that takes its time",
      run: async (bench, openedBy) => {
        const words = bench.nonce();
        const session = await bench.open(openedBy, bench.scenarios.says(words));
        do await delay(bench.limits.slowReaderMs);
        while (await session.next());
        obeysLaw(session);
        holds(
          session.text.includes(words),
          `the slow reader should get "${words}", and got "${session.text}"`,
        );
      },
    },
    {
      id: "one-reader",
      tier,
      title: "refuses a second reader with events_taken, and goes on with the first",
      run: async (bench, openedBy) => {
        const session = await bench.open(openedBy, bench.scenarios.says(bench.nonce()));
        await session.next();
        await bench.refuses("a second reader", ["events_taken"], async () => {
          await session.handle.events[Symbol.asyncIterator]().next();
        });
        obeysLaw(await session.toEnd());
      },
    },
  ]),
  {
    id: "result-has-message",
    tier,
    title: "repeats the agent's last message in the result",
    run: async (bench) => {
      const session = await bench.recorded();
      const { terminal } = session;
      if (terminal?.kind !== "result") throw notVerified("the session did not end with a result");
      holds(
        terminal.message !== "" && session.text.includes(terminal.message),
        `the message of the result should be among what the agent said, and is "${terminal.message}"`,
      );
    },
  },
  {
    id: "reads-at-once",
    tier,
    title: "answers reads that don't wait for each other in order",
    run: async (bench) => {
      const session = await bench.spawn(bench.scenarios.says(bench.nonce()));
      const reader = session.handle.events[Symbol.asyncIterator]();
      const reads = [reader.next(), reader.next(), reader.next()];
      const results = await within("three reads at once", bench.limits.sessionMs, Promise.all(reads));
      const kinds = results.map(({ value }) => (value as { kind?: string } | undefined)?.kind);
      holds(
        kinds[0] === "init" && kinds.filter((kind) => kind === "init").length === 1,
        `three reads at once should give init and what follows, and gave ${kinds.join(", ")}`,
      );
    },
  },
  {
    id: "usage-is-told",
    tier,
    title: "tells the cost so far during a session that calls its model more than once",
    run: async (bench) => {
      const spec = bench.scenarios.callsModelTwice?.();
      if (!spec) throw notVerified("there is no scenario `callsModelTwice`");
      const session = await (await bench.spawn(spec)).toEnd();
      if (session.terminal?.cost.inputTokens === undefined)
        throw notApplicable("the provider does not know what its sessions use");
      const told = session.events.filter(({ kind }) => kind === "usage");
      holds(told.length > 0, `no usage event came; it told: ${session.kinds}`);
      const { turns } = session.terminal.cost;
      holds(
        turns === undefined || turns > 1,
        `the model was called more than once, and \`turns\` is ${turns}`,
      );
    },
  },
];
