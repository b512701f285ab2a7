import { type Check, notApplicable } from "../harness/check.ts";
import type { ConformanceScenarios } from "../harness/conformance-options.ts";
import { checkStream } from "../harness/stream-rules.ts";
import type { ObservedSession } from "../harness/observed-session.ts";
import { failure, assertThat, waitFor } from "../harness/assertions.ts";
import type { CheckContext } from "../harness/check-context.ts";

const tier = "resume";

/** Checks that a session continues where it ended. */
export const RESUME_CHECKS: readonly Check[] = [
  {
    id: "resume-remembers",
    tier,
    title: "continues a session: the agent knows text from before the resume",
    earns: true,
    run: async (context) => {
      requireResume(context);
      const memory = memoryScenario(context);
      const words = context.nonce();
      const first = await (await context.spawn(memory.store(words))).readToEnd();
      expectText(await (await context.resume(first.handle.sessionId, memory.recall())).readToEnd(), words);
    },
  },
  {
    id: "resume-keeps-id",
    tier,
    title: "keeps the session id",
    run: async (context) => {
      requireResume(context);
      const id = await context.endedSession();
      const { handle } = await (
        await context.resume(id, context.scenarios.says(context.nonce()))
      ).readToEnd();
      assertThat(
        handle.sessionId === id,
        `the session "${id}" was resumed with the id "${handle.sessionId}"`,
      );
    },
  },
  {
    id: "resume-resets-cost",
    tier,
    title: "does not include the cost from before the resume",
    run: async (context) => {
      requireResume(context);
      const past = await (await context.spawn(context.scenarios.says(context.nonce()))).readToEnd();
      await past.stop();
      const resumed = await context.resume(past.handle.sessionId, context.scenarios.says(context.nonce()));
      await resumed.readToEnd();
      const [before, after] = [past.terminal?.cost.turns, resumed.terminal?.cost.turns];
      if (before === undefined || before === 0)
        throw notApplicable("the provider does not count model calls");
      assertThat(after === before, `the same task took ${before} model calls, but ${after} after the resume`);
    },
  },
  {
    id: "resume-by-another-provider",
    tier,
    title: "resumes a session of a provider that was shut down",
    run: async (context) => {
      requireResume(context);
      const memory = memoryScenario(context);
      const words = context.nonce();
      const before = await context.freshProvider();
      const first = await (await context.spawn(memory.store(words), {}, before)).readToEnd();
      await waitFor("shutdown()", context.limits.shutdownMs, before.shutdown());
      const after = await context.freshProvider();
      expectText(
        await (await context.resume(first.handle.sessionId, memory.recall(), {}, after)).readToEnd(),
        words,
      );
    },
  },
  {
    id: "resume-after-stop",
    tier,
    title: "resumes a session that was stopped",
    run: async (context) => {
      requireResume(context);
      const stopped = await context.spawn(context.scenarios.works());
      await stopped.next();
      await stopped.stop();
      const words = context.nonce();
      const resumed = await context.resume(stopped.handle.sessionId, context.scenarios.says(words));
      expectText(await resumed.readToEnd(), words);
    },
  },
  {
    id: "resume-busy",
    tier,
    title: "refuses to resume a running session with session_busy",
    run: async (context) => {
      requireResume(context);
      const session = await context.spawn(context.scenarios.works());
      await session.next();
      await context.expectRefusal("resume() of a running session", ["session_busy"], () =>
        context.provider.resume(session.handle.sessionId, context.scenarios.works()),
      );
    },
  },
  {
    id: "resume-unknown",
    tier,
    title: "refuses to resume an unknown session with session_not_found",
    run: async (context) => {
      requireResume(context);
      await context.expectRefusal("resume() of an unknown session", ["session_not_found"], () =>
        context.provider.resume(crypto.randomUUID(), context.scenarios.works()),
      );
    },
  },
  {
    id: "resume-unsupported",
    tier,
    title: "refuses with unsupported if the capability is false",
    run: async (context) => {
      if (context.provider.capabilities.supportsSessionResume)
        throw notApplicable("supportsSessionResume is true");
      const session = await context.recorded();
      await context.expectRefusal("resume()", ["unsupported"], () =>
        context.provider.resume(session.handle.sessionId, context.scenarios.works()),
      );
    },
  },
];

function requireResume({ provider }: CheckContext): void {
  if (!provider.capabilities.supportsSessionResume) throw notApplicable("supportsSessionResume is false");
}

function memoryScenario({ scenarios }: CheckContext): NonNullable<ConformanceScenarios["remembers"]> {
  if (scenarios.remembers) return scenarios.remembers;
  throw failure("supportsSessionResume is true but not proven: there is no scenario `remembers`");
}

function expectText(session: ObservedSession, words: string): void {
  checkStream(session);
  assertThat(session.text.includes(words), `the agent should say "${words}", but said "${session.text}"`);
}
