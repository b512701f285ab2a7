import { type Check, notApplicable } from "./check.ts";
import type { OpenedBy } from "./watched-session.ts";
import type { Workbench } from "./workbench.ts";

/** A behaviour of sessions however they were opened. */
export interface TwinCheck extends Omit<Check, "run"> {
  run(bench: Workbench, openedBy: OpenedBy): Promise<void>;
}

/** Each check for a spawned session, and its twin for a resumed one. */
export function withTwins(checks: readonly TwinCheck[]): Check[] {
  return checks.flatMap((check) => [
    { ...check, run: (bench: Workbench) => check.run(bench, "spawn") },
    {
      id: `${check.id}-resumed`,
      tier: "resume" as const,
      title: `${check.title} (resumed)`,
      run: async (bench: Workbench) => {
        if (!bench.provider.capabilities.supportsSessionResume)
          throw notApplicable("supportsSessionResume is false");
        await check.run(bench, "resume");
      },
    },
  ]);
}
