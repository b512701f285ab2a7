import { type Check, notApplicable } from "./check.ts";
import type { OpenedBy } from "./observed-session.ts";
import type { CheckContext } from "./check-context.ts";

/** A check that applies to spawned and to resumed sessions. */
export interface SessionCheck extends Omit<Check, "run"> {
  run(context: CheckContext, openedBy: OpenedBy): Promise<void>;
}

/** Runs each check twice: for a spawned session, and for a resumed one under the id with `-resumed`. */
export function forSpawnAndResume(checks: readonly SessionCheck[]): Check[] {
  return checks.flatMap((check) => [
    { ...check, run: (context: CheckContext) => check.run(context, "spawn") },
    {
      id: `${check.id}-resumed`,
      tier: "resume" as const,
      title: `${check.title} (resumed)`,
      run: async (context: CheckContext) => {
        if (!context.provider.capabilities.supportsSessionResume)
          throw notApplicable("supportsSessionResume is false");
        await check.run(context, "resume");
      },
    },
  ]);
}
