import { type Check, notApplicable } from "../check.ts";
import type { ConformanceScenarios } from "../conformance-options.ts";
import { obeysLaw } from "../law-of-the-stream.ts";
import type { WatchedSession } from "../watched-session.ts";
import { failure, holds, within } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "resume";

/** Whether a session goes on where it ended. */
export const RESUME_CHECKS: readonly Check[] = [
  {
    id: "resume-remembers",
    tier,
    title: "goes on with a session: the agent says words that only its past had",
    earns: true,
    run: async (bench) => {
      canResume(bench);
      const memory = memoryOf(bench);
      const words = bench.nonce();
      const first = await (await bench.spawn(memory.told(words))).toEnd();
      remembers(await (await bench.resume(first.handle.sessionId, memory.asked())).toEnd(), words);
    },
  },
  {
    id: "resume-keeps-id",
    tier,
    title: "goes on under the same id",
    run: async (bench) => {
      canResume(bench);
      const id = await bench.pastSession();
      const { handle } = await (await bench.resume(id, bench.scenarios.says(bench.nonce()))).toEnd();
      holds(handle.sessionId === id, `the session "${id}" was resumed as "${handle.sessionId}"`);
    },
  },
  {
    id: "resume-counts-anew",
    tier,
    title: "does not count what the session used before it was resumed",
    run: async (bench) => {
      canResume(bench);
      const past = await (await bench.spawn(bench.scenarios.says(bench.nonce()))).toEnd();
      await past.stop();
      const resumed = await bench.resume(past.handle.sessionId, bench.scenarios.says(bench.nonce()));
      await resumed.toEnd();
      const [before, after] = [past.terminal?.cost.turns, resumed.terminal?.cost.turns];
      if (before === undefined || before === 0) throw notApplicable("the provider counts no calls");
      holds(after === before, `the same task took ${before} calls of the model, and resumed ${after}`);
    },
  },
  {
    id: "resume-elsewhere",
    tier,
    title: "goes on with a session of a provider that was shut down",
    run: async (bench) => {
      canResume(bench);
      const memory = memoryOf(bench);
      const words = bench.nonce();
      const before = await bench.freshProvider();
      const first = await (await bench.spawn(memory.told(words), {}, before)).toEnd();
      await within("shutdown()", bench.limits.shutdownMs, before.shutdown());
      const after = await bench.freshProvider();
      remembers(await (await bench.resume(first.handle.sessionId, memory.asked(), {}, after)).toEnd(), words);
    },
  },
  {
    id: "resume-after-stop",
    tier,
    title: "goes on with a session that was stopped",
    run: async (bench) => {
      canResume(bench);
      const stopped = await bench.spawn(bench.scenarios.works());
      await stopped.next();
      await stopped.stop();
      const words = bench.nonce();
      const resumed = await bench.resume(stopped.handle.sessionId, bench.scenarios.says(words));
      remembers(await resumed.toEnd(), words);
    },
  },
  {
    id: "resume-busy",
    tier,
    title: "refuses to resume a session that is at work with session_busy",
    run: async (bench) => {
      canResume(bench);
      const session = await bench.spawn(bench.scenarios.works());
      await session.next();
      await bench.refuses("resume() of a session at work", ["session_busy"], () =>
        bench.provider.resume(session.handle.sessionId, bench.scenarios.works()),
      );
    },
  },
  {
    id: "resume-unknown",
    tier,
    title: "refuses to resume a session that never was with session_not_found",
    run: async (bench) => {
      canResume(bench);
      await bench.refuses("resume() of an unknown session", ["session_not_found"], () =>
        bench.provider.resume(crypto.randomUUID(), bench.scenarios.works()),
      );
    },
  },
  {
    id: "resume-denied",
    tier,
    title: "refuses with unsupported what its capability denies",
    run: async (bench) => {
      if (bench.provider.capabilities.supportsSessionResume)
        throw notApplicable("supportsSessionResume is true");
      const session = await bench.recorded();
      await bench.refuses("resume()", ["unsupported"], () =>
        bench.provider.resume(session.handle.sessionId, bench.scenarios.works()),
      );
    },
  },
];

function canResume({ provider }: Workbench): void {
  if (!provider.capabilities.supportsSessionResume) throw notApplicable("supportsSessionResume is false");
}

function memoryOf({ scenarios }: Workbench): NonNullable<ConformanceScenarios["remembers"]> {
  if (scenarios.remembers) return scenarios.remembers;
  throw failure("supportsSessionResume is claimed and not proven: there is no scenario `remembers`");
}

function remembers(session: WatchedSession, words: string): void {
  obeysLaw(session);
  holds(session.text.includes(words), `the agent should say "${words}", and said "${session.text}"`);
}
