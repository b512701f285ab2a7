import { getEventListeners } from "node:events";
import { type Check, notVerified } from "../check.ts";
import { endedWith, obeysLaw } from "../law-of-the-stream.ts";
import { type TwinCheck, withTwins } from "../twins.ts";
import type { OpenedBy, WatchedSession } from "../watched-session.ts";
import { describeError, failure, holds, within } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "event-contract";

/** The moments at which a signal fires while a session is being opened. */
const MOMENTS: readonly (readonly [string, () => Promise<void>])[] = [
  ["at once", () => Promise.resolve()],
  ["in the next round", () => new Promise((resolve) => setImmediate(resolve))],
  ["a few milliseconds later", () => new Promise((resolve) => setTimeout(resolve, 3))],
];

const ENDS: readonly TwinCheck[] = [
  {
    id: "stop-ends-stream",
    tier,
    title: "ends the stream with a result of stopped when it is stopped",
    earns: true,
    run: async (bench, openedBy) => {
      const session = await atWork(bench, openedBy);
      await session.stop();
      await endsWith(session, "result stopped");
    },
  },
  {
    id: "stop-before-first-event",
    tier,
    title: "obeys the law when it is stopped before anybody read",
    run: async (bench, openedBy) => {
      const session = await bench.open(openedBy, bench.scenarios.works());
      await session.stop();
      await endsWith(session, "result stopped");
    },
  },
  {
    id: "stop-is-idempotent",
    tier,
    title: "may be stopped again, at once and later",
    run: async (bench, openedBy) => {
      const session = await atWork(bench, openedBy);
      await Promise.all([session.stop(), session.stop()]);
      await endsWith(session, "result stopped");
      await session.stop();
    },
  },
  {
    id: "dispose-stops",
    tier,
    title: "is stopped by disposing of it, which may be done again",
    run: async (bench, openedBy) => {
      const session = await atWork(bench, openedBy);
      const dispose = async (): Promise<void> => session.handle[Symbol.asyncDispose]();
      await within("disposing", bench.limits.stopMs, dispose());
      await endsWith(session, "result stopped");
      await within("disposing again", bench.limits.stopMs, dispose());
    },
  },
  {
    id: "stop-after-end",
    tier,
    title: "may be stopped after it ended by itself",
    run: async (bench, openedBy) => {
      const session = await bench.open(openedBy, bench.scenarios.says(bench.nonce()));
      await session.toEnd();
      await session.stop();
    },
  },
  {
    id: "abort-cancels",
    tier,
    title: "ends with the error context_cancelled when its signal fires",
    earns: true,
    run: async (bench, openedBy) => {
      const abort = new AbortController();
      const session = await atWork(bench, openedBy, abort.signal);
      abort.abort();
      await endsWith(session, "error context_cancelled");
    },
  },
  {
    id: "aborted-before-open",
    tier,
    title: "refuses to open a session with context_cancelled when the signal has fired already",
    run: async (bench, openedBy) => {
      const signal = AbortSignal.abort();
      const spec = bench.scenarios.works();
      const id = openedBy === "resume" ? await bench.pastSession() : "";
      await bench.refuses(`${openedBy}() with an aborted signal`, ["context_cancelled"], () =>
        openedBy === "spawn"
          ? bench.provider.spawn(spec, { signal })
          : bench.provider.resume(id, spec, { signal }),
      );
    },
  },
  {
    id: "signal-during-open",
    tier,
    title: "rejects or ends with context_cancelled when the signal fires while the session is being opened",
    run: async (bench, openedBy) => {
      for (const [moment, come] of MOMENTS) {
        const past = openedBy === "resume" ? await bench.pastSession() : "";
        const abort = new AbortController();
        const spec = bench.scenarios.works();
        const opening = bench.kept(
          openedBy === "spawn"
            ? bench.provider.spawn(spec, { signal: abort.signal })
            : bench.provider.resume(past, spec, { signal: abort.signal }),
        );
        const settled = opening.then(
          (handle) => ({ handle }),
          (error: unknown) => ({ error }),
        );
        await come();
        abort.abort();
        const what = `${openedBy}() whose signal fires ${moment}`;
        const opened = await within(what, bench.limits.spawnMs, settled);
        if ("error" in opened) {
          const { code } = opened.error as { code?: unknown };
          holds(
            code === "context_cancelled",
            () => `${what} should reject with "context_cancelled", and did: ${describeError(opened.error)}`,
          );
        } else {
          const session = bench.watch(opened.handle, spec, openedBy);
          await endsWith(session, "error context_cancelled");
          await session.stop();
        }
        // What was given up is not left in use.
        if (openedBy === "resume") await settlesFree(bench, past);
      }
    },
  },
  {
    id: "signal-is-released",
    tier,
    title: "does not listen to the signal of a session that has ended",
    run: async (bench, openedBy) => {
      const { signal } = new AbortController();
      const said = await bench.open(openedBy, bench.scenarios.says(bench.nonce()), { signal });
      await said.toEnd();
      await said.stop();
      const stopped = await bench.open(openedBy, bench.scenarios.works(), { signal });
      await stopped.stop();
      const left = getEventListeners(signal, "abort").length;
      holds(left === 0, `${left} listeners are left on the signal after the end`);
    },
  },
  {
    id: "reader-leaves",
    tier,
    title: "stops the agent when its reader leaves",
    run: async (bench, openedBy) => {
      const session = await atWork(bench, openedBy);
      await leaves(bench, session);
    },
  },
  {
    id: "reader-leaves-early",
    tier,
    title: "stops the agent when its reader leaves before the first event",
    run: async (bench, openedBy) => {
      await leaves(bench, await bench.open(openedBy, bench.scenarios.works()));
    },
  },
  {
    id: "handles-stay-apart",
    tier,
    title: "keeps sessions apart: their words, and their ends",
    earns: true,
    run: async (bench, openedBy) => {
      const words = [bench.nonce(), bench.nonce()] as const;
      const abort = new AbortController();
      const [works, other, first, second] = await Promise.all([
        bench.open(openedBy, bench.scenarios.works()),
        bench.open(openedBy, bench.scenarios.works(), { signal: abort.signal }),
        bench.open(openedBy, bench.scenarios.says(words[0])),
        bench.open(openedBy, bench.scenarios.says(words[1])),
      ]);
      const ids = new Set([works, other, first, second].map(({ handle }) => handle.sessionId));
      holds(ids.size === 4, "two handles have the same session");
      await works.stop();
      await Promise.all([first.toEnd(), second.toEnd()]);
      await endsWith(works, "result stopped");
      // One that was stopped along with the first would not end in this way.
      abort.abort();
      await endsWith(other, "error context_cancelled");
      says(first, words[0], words[1]);
      says(second, words[1], words[0]);
    },
  },
  {
    id: "crash-ends-handles",
    tier,
    title: "ends every session with app_server_crashed when the agent dies, and spawns again",
    run: async (bench, openedBy) => {
      const { scenarios } = bench;
      if (!scenarios.crash) throw notVerified("there is no scenario `crash`");
      const provider = await bench.freshProvider();
      const first = await atWork(bench, openedBy, undefined, provider);
      const second = await bench.open(openedBy, scenarios.works(), {}, provider);
      await within(
        "the crash",
        bench.limits.callMs,
        (async () => scenarios.crash?.(provider, first.handle))(),
      );
      for (const session of [first, second]) await endsWith(session, "error app_server_crashed");
      const after = await bench.spawn(scenarios.says(bench.nonce()), {}, provider);
      obeysLaw(await after.toEnd());
    },
  },
  {
    id: "shutdown-ends-handles",
    tier,
    title: "ends live sessions with provider_shutdown when it is shut down, which may be done again",
    earns: true,
    run: async (bench, openedBy) => {
      const provider = await bench.freshProvider();
      const read = await atWork(bench, openedBy, undefined, provider);
      const unread = await bench.open(openedBy, bench.scenarios.works(), {}, provider);
      const { shutdownMs } = bench.limits;
      await within("shutdown()", shutdownMs, provider.shutdown());
      await within("a second shutdown()", shutdownMs, provider.shutdown());
      for (const session of [read, unread]) await endsWith(session, "error provider_shutdown");
    },
  },
];

/** The ways in which a session that works is ended. */
export const END_CHECKS: readonly Check[] = withTwins(ENDS);

/** A session that works and has told so. */
async function atWork(
  bench: Workbench,
  openedBy: OpenedBy,
  signal?: AbortSignal,
  provider = bench.provider,
): Promise<WatchedSession> {
  const session = await bench.open(openedBy, bench.scenarios.works(), { signal }, provider);
  await session.next();
  return session;
}

async function endsWith(session: WatchedSession, expected: string): Promise<void> {
  await session.toEnd();
  endedWith(session, expected);
  obeysLaw(session);
}

async function leaves(bench: Workbench, session: WatchedSession): Promise<void> {
  await session.leave();
  await bench.refuses("inject() after the reader left", ["session_ended", "unsupported"], () =>
    session.handle.inject("anybody there?"),
  );
  const after = await session.next();
  holds(after === undefined, `a reader that had left got "${after?.kind}"`);
  await session.stop();
  if (!bench.provider.capabilities.supportsSessionResume) return;
  await settlesFree(bench, session.handle.sessionId);
}

/** Holds a session to being free for the next one; an agent may take a while to rest. */
async function settlesFree(bench: Workbench, sessionId: string): Promise<void> {
  const until = performance.now() + bench.limits.stopMs;
  for (;;) {
    try {
      const words = bench.nonce();
      obeysLaw(await (await bench.resume(sessionId, bench.scenarios.says(words))).toEnd());
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "session_busy") throw error;
      if (performance.now() > until) throw failure("the session stays in use after it was ended", error);
      await new Promise<void>((resolve) => setTimeout(resolve, 10));
    }
  }
}

function says(session: WatchedSession, own: string, others: string): void {
  holds(session.text.includes(own), `a session should say "${own}", and said "${session.text}"`);
  const events = session.events.map(({ raw: _raw, ...event }) => event);
  holds(!JSON.stringify(events).includes(others), "a session shows what belongs to another");
}
