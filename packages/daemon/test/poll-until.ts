import { expect } from "vitest";

/** For states that nothing notifies about. */
export async function pollUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(condition, { timeout: 20_000, interval: 20 }).toBe(true);
}
