import { type Check, notVerified } from "../check.ts";
import { endedWith, obeysLaw } from "../law-of-the-stream.ts";
import type { WatchedSession } from "../watched-session.ts";
import { holds, within } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "event-contract";

/** The ways in which a session that works is ended. */
export const END_CHECKS: readonly Check[] = [
  {
    id: "stop-ends-stream",
    tier,
    title: "ends the stream with a result of stopped when it is stopped",
    earns: true,
    run: async (bench) => {
      const session = await atWork(bench);
      await session.stop();
      await endsWith(session, "result stopped");
    },
  },
  {
    id: "stop-before-first-event",
    tier,
    title: "obeys the law when it is stopped before anybody read",
    run: async (bench) => {
      const session = await bench.spawn(bench.scenarios.works());
      await session.stop();
      await endsWith(session, "result stopped");
    },
  },
  {
    id: "stop-is-idempotent",
    tier,
    title: "may be stopped again, at once, later and by disposing of it",
    run: async (bench) => {
      const session = await atWork(bench);
      await Promise.all([session.stop(), session.stop()]);
      await endsWith(session, "result stopped");
      await session.stop();
      await within("disposing", bench.limits.stopMs, session.handle[Symbol.asyncDispose]());
    },
  },
  {
    id: "stop-after-end",
    tier,
    title: "may be stopped after it ended by itself",
    run: async (bench) => {
      const session = await bench.spawn(bench.scenarios.says(bench.nonce()));
      await session.toEnd();
      await session.stop();
    },
  },
  {
    id: "abort-cancels",
    tier,
    title: "ends with the error context_cancelled when its signal fires",
    earns: true,
    run: async (bench) => {
      const abort = new AbortController();
      const session = await atWork(bench, abort.signal);
      abort.abort();
      await endsWith(session, "error context_cancelled");
    },
  },
  {
    id: "aborted-before-spawn",
    tier,
    title: "refuses to spawn with context_cancelled when the signal has fired already",
    run: (bench) =>
      bench.refuses("spawn() with an aborted signal", ["context_cancelled"], () =>
        bench.provider.spawn(bench.scenarios.works(), { signal: AbortSignal.abort() }),
      ),
  },
  {
    id: "reader-leaves",
    tier,
    title: "stops the agent when its reader leaves",
    run: async (bench) => {
      const session = await atWork(bench);
      await session.leave();
      await bench.refuses("inject() after the reader left", ["session_ended", "unsupported"], () =>
        session.handle.inject("anybody there?"),
      );
      const after = await session.next();
      holds(after === undefined, `a reader that had left got "${after?.kind}"`);
      await session.stop();
    },
  },
  {
    id: "handles-stay-apart",
    tier,
    title: "keeps two sessions apart: their words, and their ends",
    earns: true,
    run: async (bench) => {
      const words = [bench.nonce(), bench.nonce()] as const;
      const [works, first, second] = await Promise.all([
        bench.spawn(bench.scenarios.works()),
        bench.spawn(bench.scenarios.says(words[0])),
        bench.spawn(bench.scenarios.says(words[1])),
      ]);
      const ids = new Set([works, first, second].map(({ handle }) => handle.sessionId));
      holds(ids.size === 3, "two handles have the same session");
      await works.stop();
      await Promise.all([first.toEnd(), second.toEnd()]);
      await endsWith(works, "result stopped");
      says(first, words[0], words[1]);
      says(second, words[1], words[0]);
    },
  },
  {
    id: "crash-ends-handles",
    tier,
    title: "ends every session with app_server_crashed when the agent dies, and spawns again",
    run: async (bench) => {
      const { scenarios } = bench;
      if (!scenarios.crash) throw notVerified("there is no scenario `crash`");
      const provider = await bench.freshProvider();
      const sessions = [
        await atWork(bench, undefined, provider),
        await bench.spawn(scenarios.works(), {}, provider),
      ];
      const [first] = sessions;
      if (first)
        await within(
          "the crash",
          bench.limits.callMs,
          Promise.resolve(scenarios.crash(provider, first.handle)),
        );
      for (const session of sessions) await endsWith(session, "error app_server_crashed");
      obeysLaw(await (await bench.spawn(scenarios.says(bench.nonce()), {}, provider)).toEnd());
    },
  },
];

/** A session that works and has told so. */
async function atWork(
  bench: Workbench,
  signal?: AbortSignal,
  provider = bench.provider,
): Promise<WatchedSession> {
  const session = await bench.spawn(bench.scenarios.works(), { signal }, provider);
  await session.next();
  return session;
}

async function endsWith(session: WatchedSession, expected: string): Promise<void> {
  await session.toEnd();
  endedWith(session, expected);
  obeysLaw(session);
}

function says(session: WatchedSession, own: string, others: string): void {
  holds(session.text.includes(own), `a session should say "${own}", and said "${session.text}"`);
  const events = session.events.map(({ raw: _raw, ...event }) => event);
  holds(!JSON.stringify(events).includes(others), "a session shows what belongs to another");
}
