import { expect, it } from "vitest";
import { chaosSeed, runChaos } from "./chaos.ts";

it(
  "settles everything that 30 threads start during four seconds of faults",
  { timeout: 180_000 },
  async () => {
    const { settled, outcomes } = await runChaos({ durationMs: 4_000, seed: chaosSeed() });
    expect(settled).toBeGreaterThan(30);
    expect(outcomes["fulfilled"]).toBeGreaterThan(0);
  },
);
