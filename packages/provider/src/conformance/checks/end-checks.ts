import { getEventListeners } from "node:events";
import { type Check, notVerified } from "../harness/check.ts";
import { checkEnding, checkStream } from "../harness/stream-rules.ts";
import { type SessionCheck, forSpawnAndResume } from "../harness/spawn-and-resume.ts";
import type { OpenedBy, ObservedSession } from "../harness/observed-session.ts";
import { describeError, failure, assertThat, waitFor } from "../harness/assertions.ts";
import type { CheckContext } from "../harness/check-context.ts";

const tier = "event-contract";

/** Moments during the opening at which the signal aborts. */
const MOMENTS: readonly (readonly [string, () => Promise<void>])[] = [
  ["immediately", () => Promise.resolve()],
  ["in the next event-loop iteration", () => new Promise((resolve) => setImmediate(resolve))],
  ["a few milliseconds later", () => new Promise((resolve) => setTimeout(resolve, 3))],
];

const ENDS: readonly SessionCheck[] = [
  {
    id: "stop-ends-stream",
    tier,
    title: "ends the stream with the result `stopped` after stop()",
    earns: true,
    run: async (context, openedBy) => {
      const session = await runningSession(context, openedBy);
      await session.stop();
      await expectEnding(session, "result stopped");
    },
  },
  {
    id: "stop-before-first-event",
    tier,
    title: "ends correctly when it is stopped before the first read",
    run: async (context, openedBy) => {
      const session = await context.open(openedBy, context.scenarios.works());
      await session.stop();
      await expectEnding(session, "result stopped");
    },
  },
  {
    id: "stop-is-idempotent",
    tier,
    title: "accepts further stop() calls, concurrent and later",
    run: async (context, openedBy) => {
      const session = await runningSession(context, openedBy);
      await Promise.all([session.stop(), session.stop()]);
      await expectEnding(session, "result stopped");
      await session.stop();
    },
  },
  {
    id: "dispose-stops",
    tier,
    title: "is stopped by disposing the handle, more than once",
    run: async (context, openedBy) => {
      const session = await runningSession(context, openedBy);
      const dispose = async (): Promise<void> => session.handle[Symbol.asyncDispose]();
      await waitFor("disposing", context.limits.stopMs, dispose());
      await expectEnding(session, "result stopped");
      await waitFor("disposing again", context.limits.stopMs, dispose());
    },
  },
  {
    id: "stop-after-end",
    tier,
    title: "accepts stop() after the session has ended",
    run: async (context, openedBy) => {
      const session = await context.open(openedBy, context.scenarios.says(context.nonce()));
      await session.readToEnd();
      await session.stop();
    },
  },
  {
    id: "abort-cancels",
    tier,
    title: "ends with the error context_cancelled when its signal aborts",
    earns: true,
    run: async (context, openedBy) => {
      const abort = new AbortController();
      const session = await runningSession(context, openedBy, abort.signal);
      abort.abort();
      await expectEnding(session, "error context_cancelled");
    },
  },
  {
    id: "aborted-before-open",
    tier,
    title: "refuses to open a session with context_cancelled if the signal has already aborted",
    run: async (context, openedBy) => {
      const signal = AbortSignal.abort();
      const spec = context.scenarios.works();
      const id = openedBy === "resume" ? await context.endedSession() : "";
      await context.expectRefusal(`${openedBy}() with an aborted signal`, ["context_cancelled"], () =>
        openedBy === "spawn"
          ? context.provider.spawn(spec, { signal })
          : context.provider.resume(id, spec, { signal }),
      );
    },
  },
  {
    id: "signal-during-open",
    tier,
    title: "rejects or ends with context_cancelled when the signal aborts while the session is being opened",
    run: async (context, openedBy) => {
      for (const [moment, reached] of MOMENTS) {
        const past = openedBy === "resume" ? await context.endedSession() : "";
        const abort = new AbortController();
        const spec = context.scenarios.works();
        const opening = context.track(
          openedBy === "spawn"
            ? context.provider.spawn(spec, { signal: abort.signal })
            : context.provider.resume(past, spec, { signal: abort.signal }),
        );
        const settled = opening.then(
          (handle) => ({ handle }),
          (error: unknown) => ({ error }),
        );
        await reached();
        abort.abort();
        const what = `${openedBy}() whose signal aborts ${moment}`;
        const opened = await waitFor(what, context.limits.spawnMs, settled);
        if ("error" in opened) {
          const { code } = opened.error as { code?: unknown };
          assertThat(
            code === "context_cancelled",
            () =>
              `${what} should reject with "context_cancelled", but rejected with: ${describeError(opened.error)}`,
          );
        } else {
          const session = context.observe(opened.handle, spec, openedBy);
          await expectEnding(session, "error context_cancelled");
          await session.stop();
        }
        // A session whose opening was cancelled must not stay busy.
        if (openedBy === "resume") await expectResumable(context, past);
      }
    },
  },
  {
    id: "signal-is-released",
    tier,
    title: "removes its listeners from the signal when the session ends",
    run: async (context, openedBy) => {
      const { signal } = new AbortController();
      const completed = await context.open(openedBy, context.scenarios.says(context.nonce()), { signal });
      await completed.readToEnd();
      await completed.stop();
      const stopped = await context.open(openedBy, context.scenarios.works(), { signal });
      await stopped.stop();
      const left = getEventListeners(signal, "abort").length;
      assertThat(left === 0, `${left} listeners remain on the signal after the end`);
    },
  },
  {
    id: "reader-leaves",
    tier,
    title: "stops the agent when the reader stops early",
    run: async (context, openedBy) => {
      const session = await runningSession(context, openedBy);
      await expectStoppedByReader(context, session);
    },
  },
  {
    id: "reader-leaves-early",
    tier,
    title: "stops the agent when the reader stops before the first event",
    run: async (context, openedBy) => {
      await expectStoppedByReader(context, await context.open(openedBy, context.scenarios.works()));
    },
  },
  {
    id: "sessions-are-isolated",
    tier,
    title: "keeps the text and the endings of concurrent sessions separate",
    earns: true,
    run: async (context, openedBy) => {
      const words = [context.nonce(), context.nonce()] as const;
      const abort = new AbortController();
      const [works, other, first, second] = await Promise.all([
        context.open(openedBy, context.scenarios.works()),
        context.open(openedBy, context.scenarios.works(), { signal: abort.signal }),
        context.open(openedBy, context.scenarios.says(words[0])),
        context.open(openedBy, context.scenarios.says(words[1])),
      ]);
      const ids = new Set([works, other, first, second].map(({ handle }) => handle.sessionId));
      assertThat(ids.size === 4, "two handles have the same session id");
      await works.stop();
      await Promise.all([first.readToEnd(), second.readToEnd()]);
      await expectEnding(works, "result stopped");
      // If it had been stopped along with the first, it would have ended differently.
      abort.abort();
      await expectEnding(other, "error context_cancelled");
      expectText(first, words[0], words[1]);
      expectText(second, words[1], words[0]);
    },
  },
  {
    id: "crash-ends-handles",
    tier,
    title: "ends every session with app_server_crashed when the agent crashes, and can spawn again",
    run: async (context, openedBy) => {
      const { scenarios } = context;
      if (!scenarios.crash) throw notVerified("there is no scenario `crash`");
      const provider = await context.freshProvider();
      const first = await runningSession(context, openedBy, undefined, provider);
      const second = await context.open(openedBy, scenarios.works(), {}, provider);
      await waitFor(
        "the crash",
        context.limits.callMs,
        (async () => scenarios.crash?.(provider, first.handle))(),
      );
      for (const session of [first, second]) await expectEnding(session, "error app_server_crashed");
      const after = await context.spawn(scenarios.says(context.nonce()), {}, provider);
      checkStream(await after.readToEnd());
    },
  },
  {
    id: "shutdown-ends-handles",
    tier,
    title: "ends running sessions with provider_shutdown on shutdown(), which can be called again",
    earns: true,
    run: async (context, openedBy) => {
      const provider = await context.freshProvider();
      const read = await runningSession(context, openedBy, undefined, provider);
      const unread = await context.open(openedBy, context.scenarios.works(), {}, provider);
      const { shutdownMs } = context.limits;
      await waitFor("shutdown()", shutdownMs, provider.shutdown());
      await waitFor("a second shutdown()", shutdownMs, provider.shutdown());
      for (const session of [read, unread]) await expectEnding(session, "error provider_shutdown");
    },
  },
];

/** Every way to end a running session. */
export const END_CHECKS: readonly Check[] = forSpawnAndResume(ENDS);

/** A session that is running. */
async function runningSession(
  context: CheckContext,
  openedBy: OpenedBy,
  signal?: AbortSignal,
  provider = context.provider,
): Promise<ObservedSession> {
  const session = await context.open(openedBy, context.scenarios.works(), { signal }, provider);
  await session.next();
  return session;
}

async function expectEnding(session: ObservedSession, expected: string): Promise<void> {
  await session.readToEnd();
  checkEnding(session, expected);
  checkStream(session);
}

async function expectStoppedByReader(context: CheckContext, session: ObservedSession): Promise<void> {
  await session.stopReading();
  await context.expectRefusal("inject() after the reader stopped", ["session_ended", "unsupported"], () =>
    session.handle.inject("too late"),
  );
  const after = await session.next();
  assertThat(after === undefined, `a reader that had stopped got "${after?.kind}"`);
  await session.stop();
  if (!context.provider.capabilities.supportsSessionResume) return;
  await expectResumable(context, session.handle.sessionId);
}

/** Fails unless the session can be resumed. The agent may take a while to release it. */
async function expectResumable(context: CheckContext, sessionId: string): Promise<void> {
  const until = performance.now() + context.limits.stopMs;
  for (;;) {
    try {
      const words = context.nonce();
      checkStream(await (await context.resume(sessionId, context.scenarios.says(words))).readToEnd());
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "session_busy") throw error;
      if (performance.now() > until) throw failure("the session is still busy after it was stopped", error);
      await new Promise<void>((resolve) => setTimeout(resolve, 10));
    }
  }
}

function expectText(session: ObservedSession, own: string, others: string): void {
  assertThat(session.text.includes(own), `a session should say "${own}", but said "${session.text}"`);
  const events = session.events.map(({ raw: _raw, ...event }) => event);
  assertThat(!JSON.stringify(events).includes(others), "a session has events of another session");
}
