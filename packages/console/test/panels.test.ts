import { say } from "@codexkit/scripted-model";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  DESKTOP,
  expectAccessible,
  FakeDaemon,
  PHONE,
  startRealDaemon,
  takeScreenshot,
  useBrowser,
} from "./rig/index.ts";

const browser = useBrowser();

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test(
  "shows files as a tree, finds them by parts of their names, and reads large ones by ranges",
  { timeout: 240_000 },
  async () => {
    await using daemon = await startRealDaemon(() => say("Hello."));
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index + 1}`);
    await writeFile(join(daemon.workspace, "large.txt"), `${lines.join("\n")}\n`);
    await writeFile(join(daemon.workspace, "pixel.png"), PNG);
    const { session } = await daemon.client.createSession(
      { cwd: daemon.workspace, name: "Work" },
      { wait: 20_000 },
    );
    const page = await browser.open(daemon, `/s/${session.id}?p=files`);
    await page.getByRole("treeitem", { name: /large\.txt/ }).focus();
    await page.keyboard.press("Enter");
    const contents = page.getByRole("region", { name: "Contents of large.txt" });
    await contents.getByText("line 1", { exact: true }).waitFor();
    expect(await page.locator(".text-row").count()).toBeLessThan(200);
    await takeScreenshot(page, "files-text");
    await expectAccessible(page);
    await page.getByRole("button", { name: "To the end" }).click();
    await contents
      .getByText(/^line 9\d{4}$/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByLabel("Find a file").fill("pix");
    await page.getByRole("button", { name: "pixel.png" }).click();
    const image = page.getByRole("img", { name: "pixel.png" });
    await expect
      .poll(async () => image.evaluate((element) => (element as HTMLImageElement).naturalWidth))
      .toBe(1);
  },
);

test("filters events, and copies one as JSON and as a command", { timeout: 240_000 }, async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  await session.exchange("Question", "Answer");
  const page = await browser.open(daemon, `/s/${session.id}?p=events`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const list = page.getByRole("list", { name: "Events, newest first" });
  await list
    .getByRole("button", { name: /item\.completed/ })
    .first()
    .waitFor();
  expect(await list.getByRole("button", { name: /item\.delta/ }).count()).toBe(0);
  await page.getByLabel("Filter events").fill("turn.");
  await list
    .getByRole("button", { name: /item\.completed/ })
    .first()
    .waitFor({ state: "detached" });
  await list.getByRole("button", { name: /turn\.completed/ }).click();
  await page.getByRole("button", { name: "Copy as curl" }).click();
  await expect
    .poll(async () => page.evaluate(async () => navigator.clipboard.readText()))
    .toMatch(/^curl .*\/events\?after=\d+&limit=1'$/);
});

test.each(["files", "usage", "events"])(
  "has no violation in the panel %s",
  { timeout: 240_000 },
  async (panel) => {
    await using daemon = await FakeDaemon.start();
    const session = await daemon.createSession("Fix the parser", { budget: { totalTokens: 200_000 } });
    await session.exchange("Why?", "Because.");
    for (const [colorScheme, viewport] of [
      ["light", DESKTOP],
      ["dark", PHONE],
    ] as const) {
      const page = await browser.open(daemon, `/s/${session.id}?p=${panel}`, { colorScheme, viewport });
      await page.locator(`.${panel}-panel`).waitFor();
      await takeScreenshot(page, `panel-${panel}-${viewport.width}-${colorScheme}`);
      await expectAccessible(page);
    }
  },
);

test("replays an exported session with a clock", { timeout: 240_000 }, async () => {
  await using daemon = await startRealDaemon(({ lastUserText }) => say(`Answer to ${lastUserText}.`));
  const { session } = await daemon.client.createSession(
    { cwd: daemon.workspace, name: "Recorded" },
    { wait: 20_000 },
  );
  for (const text of ["one", "two"]) {
    await daemon.client.send(session.id, text);
    await expect
      .poll(async () => {
        const { data } = await daemon.client.request("GET /sessions/{sessionId}/turns", {
          params: { sessionId: session.id },
        });
        return data.find(({ title }) => title === text)?.status;
      })
      .toBe("completed");
  }
  const exported = await daemon.client.exportSession(session.id);
  const buffer = Buffer.from(await new Response(exported).arrayBuffer());
  const page = await browser.open(daemon, "/replay");
  await page.getByLabel("Exported session").setInputFiles({
    name: "wrong.jsonl",
    mimeType: "application/jsonl",
    buffer: Buffer.from("{}\n"),
  });
  await page.getByRole("alert").getByText("Expected a session that was exported").waitFor();
  await page.getByLabel("Exported session").setInputFiles({
    name: "session.jsonl",
    mimeType: "application/jsonl",
    buffer,
  });
  const log = page.getByRole("log");
  await log.getByText("Answer to two.").waitFor();
  await takeScreenshot(page, "replay");
  await expectAccessible(page);
  await page.getByLabel("Position").fill("0");
  await expect.poll(async () => log.getByText("Answer to two.").count()).toBe(0);
  await page.getByRole("combobox", { name: "Speed" }).selectOption("20");
  await page.getByRole("button", { name: "Play" }).click();
  await log.getByText("Answer to two.").waitFor();
});

test("signs in with a code from another browser, once", { timeout: 240_000 }, async () => {
  await using daemon = await FakeDaemon.start();
  await daemon.createSession("Fix the parser");
  const page = await browser.open(daemon, "/pair");
  await page.getByRole("button", { name: "Show code" }).click();
  await page.getByRole("img", { name: "QR code of the login link" }).waitFor();
  await takeScreenshot(page, "pair");
  await expectAccessible(page);
  const code = await page.locator(".pair-text code").innerText();
  const phone = await browser.open(daemon, `/login#code=${code}`, { isLoggedIn: false, viewport: PHONE });
  await phone.waitForURL((url) => !url.pathname.endsWith("/login"));
  expect(phone.url()).not.toContain(code);
  const other = await browser.open(daemon, `/login#code=${code}`, {
    isLoggedIn: false,
    expectedProblems: [/status of 401/],
  });
  await other.getByRole("alert").getByText("The code was used already").waitFor();
  await takeScreenshot(other, "login");
  await expectAccessible(other);
  await other.getByLabel("Token or one-time code").fill(daemon.token ?? "");
  await other.getByRole("button", { name: "Sign in" }).click();
  for (const signedIn of [phone, other]) {
    await signedIn.getByRole("heading", { name: "Fix the parser", level: 1 }).waitFor();
  }
  await other.goto("/console/settings");
  await other.evaluate(() => Object.assign(globalThis, { isOldPage: true }));
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.getByRole("heading", { name: "Sign in to codexkit" }).waitFor();
  // Nothing of the session stays in memory.
  await expect.poll(async () => other.evaluate(() => "isOldPage" in globalThis)).toBe(false);
});

test("tests a command against the policy of a session", { timeout: 240_000 }, async () => {
  await using daemon = await startRealDaemon(() => say("Hello."));
  await daemon.client.createSession({ cwd: daemon.workspace, name: "Work" }, { wait: 20_000 });
  const page = await browser.open(daemon, "/settings");
  await page.getByLabel("Test a command").fill("ls && rm -rf /");
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByRole("row", { name: /rm -rf/ }).waitFor();
  await page.getByLabel("Dark").check();
  expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
  await takeScreenshot(page, "settings-policy");
  await expectAccessible(page);
});
