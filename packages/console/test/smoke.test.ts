import { say } from "@codexkit/scripted-model";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { FakeDaemon, startRealDaemon, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

/** Waits until the screen and the worker are loaded: a daemon that ends before that is an error of the page. */
async function waitUntilLoaded(page: Page): Promise<void> {
  await page.getByRole("banner").getByText("Live", { exact: true }).waitFor();
  await page.getByRole("heading", { level: 1 }).waitFor();
}

test("the page starts in Chromium without an error, a foreign request or a policy violation", async () => {
  await using daemon = await FakeDaemon.start();
  const page = await browser.open(daemon, "/");
  expect(browser.browser.version()).toMatch(/^\d+\./);
  await page.getByRole("main").waitFor();
  await waitUntilLoaded(page);
  expect(await page.evaluate(() => globalThis.isSecureContext)).toBe(true);
  expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true);
});

test("a screen whose code can't be loaded says so, and the others work", async () => {
  await using daemon = await FakeDaemon.start();
  const page = await browser.open(daemon, "/sessions", {
    expectedProblems: [/^connection lost: .*\/usage-screen/],
    prepare: async (opened) => {
      await opened.route(/usage-screen/, async (route) => route.abort());
    },
  });
  await waitUntilLoaded(page);
  await page.getByRole("banner").getByRole("link", { name: "Usage" }).click();
  await page.getByRole("alert").getByText("This part of the page has failed").waitFor();
  await page.getByRole("link", { name: "New session" }).click();
  await page.getByRole("heading", { level: 1, name: "New session" }).waitFor();
});

test("the page shows a session of the real codex", async () => {
  await using daemon = await startRealDaemon(() => say("Hello from the script."));
  const { session } = await daemon.client.createSession(
    { cwd: daemon.workspace, name: "First" },
    { wait: 20_000 },
  );
  await daemon.client.send(session.id, "Say hello", { wait: 20_000 });
  const page = await browser.open(daemon, `/s/${session.id}`);
  await page.getByText("Hello from the script.").first().waitFor();
});
