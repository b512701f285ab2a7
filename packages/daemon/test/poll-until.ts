import { expect } from "vitest";

/** Waits for a state about which there is no event. */
export async function pollUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(condition, { timeout: 20_000, interval: 20 }).toBe(true);
}
