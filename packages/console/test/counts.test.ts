import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { FakeDaemon, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

test("a session of 200 items takes less than 200 KB, compressed files and data together", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Fix the parser");
  for (let index = 0; index < 100; index += 1) {
    await session.exchange(`Question ${index}`, `The answer ${index} has *some* words, and \`code\`.`);
  }
  let bytes = 0;
  const hosts = new Set<string>();
  const page = await browser.open(daemon, `/s/${session.id}`, {
    prepare: async (opened) => {
      const devtools = await opened.context().newCDPSession(opened);
      devtools.on("Network.loadingFinished", ({ encodedDataLength }) => {
        bytes += encodedDataLength;
      });
      devtools.on("Network.requestWillBeSent", ({ request }) => {
        hosts.add(new URL(request.url).host);
      });
      await devtools.send("Network.enable");
    },
  });
  await page.getByText("The answer 99").first().waitFor();
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  // Proof that it counts: the scripts alone are larger.
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(200_000);
  expect([...hosts]).toEqual([new URL(daemon.url).host]);
});

test("an idle session asks for no frame and changes nothing but times", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Fix the parser");
  await session.exchange("Why does it fail?", "The lexer drops the last token.");
  const page = await browser.open(daemon, `/s/${session.id}`, {
    prepare: async (opened) => opened.clock.install(),
  });
  await page.getByText("The lexer drops the last token.").first().waitFor();
  // What follows the first drawing is over.
  await page.clock.runFor(5_000);
  await page.evaluate(() => {
    const counts = { frames: 0, changed: [] as string[] };
    Object.assign(globalThis, { counts });
    const request = globalThis.requestAnimationFrame;
    globalThis.requestAnimationFrame = (callback) => {
      counts.frames += 1;
      return request(callback);
    };
    const observer = new MutationObserver((records) => {
      for (const { target } of records) {
        const element = target instanceof Element ? target : target.parentElement;
        if (!element?.closest("time")) counts.changed.push(element?.outerHTML.slice(0, 100) ?? "");
      }
    });
    const all = { subtree: true, childList: true, characterData: true, attributes: true };
    observer.observe(document, all);
  });
  await page.clock.runFor(120_000);
  const counts = await page.evaluate(() => (globalThis as unknown as { counts: unknown }).counts);
  expect(counts).toEqual({ frames: 0, changed: [] });
});

test("hidden tabs share one connection, and catch up without a banner", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Fix the parser");
  await session.exchange("Why does it fail?", "The lexer drops the last token.");
  const first = await browser.open(daemon, `/s/${session.id}`, { prepare: makeHideable });
  const pages = [first];
  for (let index = 0; index < 2; index += 1) {
    const page = await first.context().newPage();
    await makeHideable(page);
    await page.goto(`/console/s/${session.id}`);
    pages.push(page);
  }
  for (const page of pages) await page.getByText("The lexer drops the last token.").first().waitFor();
  await expect.poll(() => daemon.faults.openStreams).toBe(3);
  for (const page of pages) {
    await setHidden(page, true);
    await page.clock.fastForward(5 * 60_000);
  }
  await expect.poll(() => daemon.faults.openStreams).toBe(1);
  await session.exchange("And now?", "Written while nobody looked.");
  const [last = first] = pages.slice(-1);
  await setHidden(last, false);
  await last.getByText("Written while nobody looked.").first().waitFor();
  expect(await last.getByText(/can't be reached|Catching up/).count()).toBe(0);
  expect(await last.getByRole("log").getByText("Written while nobody looked.").count()).toBe(1);
});

/** Chromium without a screen has no hidden tabs. */
async function makeHideable(page: Page): Promise<void> {
  await page.clock.install();
  await page.addInitScript(() => {
    Object.defineProperty(document, "hidden", { get: () => "isHidden" in globalThis });
  });
}

async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    if (hidden) Object.assign(globalThis, { isHidden: true });
    else Reflect.deleteProperty(globalThis, "isHidden");
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}
