import { say } from "@codexkit/scripted-model";
import { expect, test } from "vitest";
import { FakeDaemon, startRealDaemon, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

test("the page starts in Chromium without an error, a foreign request or a policy violation", async () => {
  await using daemon = await FakeDaemon.start();
  const page = await browser.open(daemon, "/");
  expect(browser.browser.version()).toMatch(/^\d+\./);
  await page.getByRole("main").waitFor();
  expect(await page.evaluate(() => globalThis.isSecureContext)).toBe(true);
  expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true);
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
