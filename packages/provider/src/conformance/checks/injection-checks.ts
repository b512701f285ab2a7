import { type Check, notApplicable } from "../check.ts";
import { obeysLaw } from "../law-of-the-stream.ts";
import { failure, within } from "../within.ts";

const tier = "injection";

/** Whether words reach an agent in the middle of its work. */
export const INJECTION_CHECKS: readonly Check[] = [
  {
    id: "injection-is-heard",
    tier,
    title: "reaches the agent with what is injected: it says words that only the injection had",
    earns: true,
    run: async (bench) => {
      if (!bench.provider.capabilities.supportsMessageInjection)
        throw notApplicable("supportsMessageInjection is false");
      const spec = bench.scenarios.echoes?.();
      if (!spec) {
        throw failure("supportsMessageInjection is claimed and not proven: there is no scenario `echoes`");
      }
      const session = await bench.spawn(spec);
      await session.next();
      const words = bench.nonce();
      await within("inject()", bench.limits.callMs, session.handle.inject(words));
      // Only the agent's own words count: whoever tells of the injection repeats it too.
      await session.until("the agent saying what was injected", () => session.text.includes(words));
      await session.stop();
      obeysLaw(await session.toEnd());
    },
  },
  {
    id: "injection-after-end",
    tier,
    title: "refuses to inject into a session that has ended",
    run: async (bench) => {
      const session = await bench.spawn(bench.scenarios.says(bench.nonce()));
      await session.toEnd();
      const { supportsMessageInjection } = bench.provider.capabilities;
      await bench.refuses(
        "inject() after the end",
        [supportsMessageInjection ? "session_ended" : "unsupported"],
        () => session.handle.inject("too late"),
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
