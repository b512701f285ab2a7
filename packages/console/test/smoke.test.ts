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

test("the guards notice errors, foreign requests and policy violations", async () => {
  await using daemon = await FakeDaemon.start();
  const expectedProblems = [
    /^uncaught: .*thrown on purpose/,
    /^uncaught: .*rejected on purpose/,
    /^console\.error: written on purpose/,
    /^request to another origin: http:\/\/127\.0\.0\.1:1\//,
    /content security policy/i,
    /^console\.error: .*(?:violates|Refused)/,
  ];
  const page = await browser.open(daemon, "/", { expectedProblems });
  await waitUntilLoaded(page);
  const messages: string[] = [];
  page.on("console", (message) => messages.push(message.text()));
  await page.evaluate(() => {
    setTimeout(() => {
      throw new Error("thrown on purpose");
    });
    void Promise.reject(new Error("rejected on purpose"));
    // oxlint-disable-next-line no-console
    console.error("written on purpose");
    const style = document.createElement("style");
    style.textContent = "body { color: red }";
    document.head.append(style);
    void fetch("http://127.0.0.1:1/").catch(() => undefined);
  });
  await expect.poll(() => messages.join("\n")).toMatch(/style-src[^]*connect-src|connect-src[^]*style-src/);
});
