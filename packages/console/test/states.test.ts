import { expect, test } from "vitest";
import { DESKTOP, expectAccessible, FakeDaemon, PHONE, takeScreenshot, useBrowser } from "./rig/index.ts";
import { STATES } from "./states.ts";

const browser = useBrowser();

test.each(STATES)(
  "$name is recognisable and accessible in both themes and both widths",
  async ({ name, prepare, interfere, shows, isLoggedIn = true }) => {
    await using daemon = await FakeDaemon.start();
    const page = await browser.open(daemon, await prepare(daemon), { isLoggedIn, reducedMotion: "reduce" });
    await interfere?.(daemon, page);
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
  },
  240_000,
);
