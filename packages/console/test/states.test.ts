import { expect, test } from "vitest";
import {
  DESKTOP,
  expectAccessible,
  expectAriaSnapshot,
  FakeDaemon,
  LOST_CONNECTION,
  PHONE,
  takeScreenshot,
  useBrowser,
} from "./rig/index.ts";
import { STATES } from "./states.ts";

const browser = useBrowser();

test.each(STATES)(
  "$name is recognisable and accessible in both themes and both widths",
  async ({ name, prepare, interfere, shows, scopes, isLoggedIn = true, losesConnections = false }) => {
    await using daemon = await FakeDaemon.start();
    const prepared = await prepare(daemon);
    const path = typeof prepared === "string" ? prepared : `/s/${prepared.id}`;
    const token = scopes && (await daemon.api.createToken(scopes));
    const page = await browser.open(daemon, path, {
      isLoggedIn,
      token,
      expectedProblems: losesConnections ? [LOST_CONNECTION] : [],
      reducedMotion: "reduce",
    });
    await interfere?.({ daemon, page, ...(typeof prepared !== "string" && { session: prepared }) });
    for (const [width, viewport] of Object.entries({ wide: DESKTOP, phone: PHONE })) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await expect.poll(async () => page.locator("body").innerText(), { timeout: 45_000 }).toMatch(shows);
        await takeScreenshot(page, `${name}-${width}-${colorScheme}`);
        await expectAccessible(page);
      }
    }
    // Nothing is wider than a phone.
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
    await page.setViewportSize(DESKTOP);
    await expectAriaSnapshot(page, `states/${name}`, VARYING);
  },
  240_000,
);

/** Parts that differ between runs. */
const VARYING = [
  [/\d\d:\d\d:\d\d/g, "TIME"],
  [/\b\d+ ?(?:ms|s|m|h)\b(?: \d+ ?s\b)?/g, "TIME"],
  [/[\d.,]+k? events/g, "MANY events"],
  [/127\.0\.0\.1:\d+/g, "ADDRESS"],
  // Buttons are off for the first 400 ms.
  [/ \[disabled\]/g, ""],
] as const;
