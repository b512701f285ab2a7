import { expect, it } from "vitest";
import { chaosSeed, runChaos } from "./chaos.ts";

const DURATION_MS = 10 * 60_000;

/** Every round ends with a check that everything settled, so that a fault is found near its cause. */
const ROUND_MS = 15_000;

it("settles everything that is started during ten minutes of faults", async () => {
  const until = Date.now() + DURATION_MS;
  for (let seed = chaosSeed(); Date.now() < until; seed += 1) {
    const { settled, ...rest } = await runChaos({ durationMs: ROUND_MS, seed });
    process.stdout.write(`seed ${seed}: ${settled} settled, ${JSON.stringify(rest)}\n`);
    expect(settled).toBeGreaterThan(30);
  }
});
