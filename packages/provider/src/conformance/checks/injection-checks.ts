import { type Check, notApplicable } from "../check.ts";
import { obeysLaw } from "../law-of-the-stream.ts";
import { withTwins } from "../twins.ts";
import { failure, within } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "injection";

/** Whether words reach an agent in the middle of its work. */
export const INJECTION_CHECKS: readonly Check[] = [
  ...withTwins([
    {
      id: "injection-is-heard",
      tier,
      title: "reaches the agent with what is injected: it says words that only the injection had",
      earns: true,
      run: async (bench, openedBy) => {
        canInject(bench);
        const spec = bench.scenarios.echoes?.();
        if (!spec) {
          throw failure("supportsMessageInjection is claimed and not proven: there is no scenario `echoes`");
        }
        const session = await bench.open(openedBy, spec);
        await session.next();
        const words = bench.nonce();
        await within("inject()", bench.limits.callMs, session.handle.inject(words));
        // Only the agent's own words count: the event about the injection repeats it too.
        await session.until("the agent saying what was injected", () => session.text.includes(words));
        await session.stop();
        obeysLaw(await session.toEnd());
      },
    },
    {
      id: "injection-after-end",
      tier,
      title: "refuses to inject into a session that has ended, by itself or by stop",
      run: async (bench, openedBy) => {
        const { supportsMessageInjection } = bench.provider.capabilities;
        const codes = [supportsMessageInjection ? "session_ended" : "unsupported"];
        const said = await (await bench.open(openedBy, bench.scenarios.says(bench.nonce()))).toEnd();
        await bench.refuses("inject() after the end", codes, () => said.handle.inject("too late"));
        const stopped = await bench.open(openedBy, bench.scenarios.works());
        await stopped.stop();
        await bench.refuses("inject() after stop()", codes, () => stopped.handle.inject("too late"));
      },
    },
  ]),
  {
    id: "injection-aborted",
    tier,
    title: "refuses to inject with context_cancelled when the signal has fired already",
    run: async (bench) => {
      canInject(bench);
      const session = await bench.spawn(bench.scenarios.works());
      await session.next();
      await bench.refuses("inject() with an aborted signal", ["context_cancelled"], () =>
        session.handle.inject("a word", { signal: AbortSignal.abort() }),
      );
    },
  },
  {
    id: "injection-denied",
    tier,
    title: "refuses with unsupported what its capability denies",
    run: async (bench) => {
      if (bench.provider.capabilities.supportsMessageInjection)
        throw notApplicable("supportsMessageInjection is true");
      const session = await bench.spawn(bench.scenarios.works());
      await session.next();
      await bench.refuses("inject()", ["unsupported"], () => session.handle.inject("a word"));
    },
  },
];

function canInject({ provider }: Workbench): void {
  if (!provider.capabilities.supportsMessageInjection)
    throw notApplicable("supportsMessageInjection is false");
}
