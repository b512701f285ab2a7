import { type Check, notApplicable } from "../harness/check.ts";
import { checkStream } from "../harness/stream-rules.ts";
import { forSpawnAndResume } from "../harness/spawn-and-resume.ts";
import { failure, waitFor } from "../harness/assertions.ts";
import type { CheckContext } from "../harness/check-context.ts";

const tier = "injection";

/** Checks that injected text reaches a running agent. */
export const INJECTION_CHECKS: readonly Check[] = [
  ...forSpawnAndResume([
    {
      id: "injection-reaches-agent",
      tier,
      title: "delivers injected text to the agent, which repeats it",
      earns: true,
      run: async (context, openedBy) => {
        requireInjection(context);
        const spec = context.scenarios.echoes?.();
        if (!spec) {
          throw failure("supportsMessageInjection is true but not proven: there is no scenario `echoes`");
        }
        const session = await context.open(openedBy, spec);
        await session.next();
        const words = context.nonce();
        await waitFor("inject()", context.limits.callMs, session.handle.inject(words));
        // Only the agent's messages count: the `injected` event repeats the text too.
        await session.readUntil("the injected text in a message of the agent", () =>
          session.text.includes(words),
        );
        await session.stop();
        checkStream(await session.readToEnd());
      },
    },
    {
      id: "injection-after-end",
      tier,
      title: "refuses to inject into a session that has ended or was stopped",
      run: async (context, openedBy) => {
        const { supportsMessageInjection } = context.provider.capabilities;
        const codes = [supportsMessageInjection ? "session_ended" : "unsupported"];
        const ended = await (
          await context.open(openedBy, context.scenarios.says(context.nonce()))
        ).readToEnd();
        await context.expectRefusal("inject() after the end", codes, () => ended.handle.inject("too late"));
        const stopped = await context.open(openedBy, context.scenarios.works());
        await stopped.stop();
        await context.expectRefusal("inject() after stop()", codes, () => stopped.handle.inject("too late"));
      },
    },
  ]),
  {
    id: "injection-aborted",
    tier,
    title: "refuses to inject with context_cancelled if the signal has already aborted",
    run: async (context) => {
      requireInjection(context);
      const session = await context.spawn(context.scenarios.works());
      await session.next();
      await context.expectRefusal("inject() with an aborted signal", ["context_cancelled"], () =>
        session.handle.inject("a word", { signal: AbortSignal.abort() }),
      );
    },
  },
  {
    id: "injection-unsupported",
    tier,
    title: "refuses with unsupported if the capability is false",
    run: async (context) => {
      if (context.provider.capabilities.supportsMessageInjection)
        throw notApplicable("supportsMessageInjection is true");
      const session = await context.spawn(context.scenarios.works());
      await session.next();
      await context.expectRefusal("inject()", ["unsupported"], () => session.handle.inject("a word"));
    },
  },
];

function requireInjection({ provider }: CheckContext): void {
  if (!provider.capabilities.supportsMessageInjection)
    throw notApplicable("supportsMessageInjection is false");
}
