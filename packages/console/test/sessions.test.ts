import { say } from "@codexkit/scripted-model";
import { findCodex } from "@codexkit/testing";
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  DaemonHome,
  DESKTOP,
  expectAccessible,
  FakeDaemon,
  PHONE,
  startRealDaemon,
  takeScreenshot,
  useBrowser,
} from "./rig/index.ts";

const browser = useBrowser();

/** A turn of the real codex takes a while on a busy machine. */
const TURN = { timeout: 60_000 };

test("shows what needs the person first", { timeout: 240_000 }, async () => {
  await using daemon = await FakeDaemon.start();
  const idle = await daemon.createSession("Fix the parser");
  await idle.exchange("Why?", "Because.");
  const waiting = await daemon.createSession("Deploy");
  await waiting.askForCommand("docker compose up -d");
  const page = await browser.open(daemon, "/sessions");
  const main = page.getByRole("main");
  await main
    .getByRole("group", { name: "Waiting" })
    .getByRole("link", { name: /Deploy/ })
    .waitFor();
  await main
    .getByRole("group", { name: "Today" })
    .getByRole("link", { name: /Fix the parser/ })
    .waitFor();
});

test("renames, pins, archives and deletes sessions by keyboard alone", { timeout: 240_000 }, async () => {
  await using daemon = await startRealDaemon(() => say("Hello."));
  for (const name of ["Fix the lexer", "Deploy"]) {
    await daemon.client.createSession({ cwd: daemon.workspace, name }, { wait: 20_000 });
  }
  const page = await browser.open(daemon, "/sessions");
  const main = page.getByRole("main");
  const renamed = main.getByRole("link", { name: /Parser/ });
  await main.getByRole("link", { name: /Fix the lexer/ }).focus();
  await page.keyboard.press("r");
  await page.getByLabel("New name").fill("Parser");
  await page.keyboard.press("Enter");
  await renamed.waitFor();
  await renamed.focus();
  await page.keyboard.press("p");
  await main
    .getByRole("group", { name: "Pinned" })
    .getByRole("link", { name: /Parser/ })
    .focus();
  await page.keyboard.press("j");
  await expect.poll(async () => page.locator(":focus").innerText()).toContain("Deploy");
  await page.keyboard.press("k");
  await expect.poll(async () => page.locator(":focus").innerText()).toContain("Parser");
  await page.keyboard.press("e");
  await renamed.waitFor({ state: "detached" });
  await main.getByText("Archived", { exact: true }).click();
  await renamed.focus();
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Keep" }).press("Enter");
  await page.locator(".confirm-dialog").waitFor({ state: "detached" });
  await renamed.focus();
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
  await renamed.waitFor({ state: "detached" });
});

test("rows keep the focus and a name that is typed while their sessions run", async () => {
  await using daemon = await FakeDaemon.start();
  const sessions = [await daemon.createSession("One"), await daemon.createSession("Two")];
  const turns = await Promise.all(sessions.map(async (session) => session.startTurn("Go")));
  const page = await browser.open(daemon, "/sessions");
  const running = page.getByRole("main").getByRole("group", { name: "Running" });
  await running.getByRole("link").nth(1).waitFor();
  const names = async () => running.locator(".listed-title").allInnerTexts();
  expect(await names()).toEqual(["Two", "One"]);
  await running.getByRole("link", { name: /One/ }).focus();
  await page.keyboard.press("r");
  const field = page.getByLabel("New name");
  await field.fill("Half a na");
  const tokens = running.getByText(/tokens/);
  const usage = { totalTokens: 1500, inputTokens: 1200, cachedInputTokens: 0, outputTokens: 300 };
  for (const [index, session] of sessions.entries()) {
    await session.append([
      { type: "usage.updated", ...turns[index]?.ids, usage, total: usage, contextWindow: null },
    ]);
  }
  await tokens.first().waitFor();
  await turns[0]?.complete();
  expect(await field.inputValue()).toBe("Half a na");
  expect(await field.evaluate((element) => document.activeElement === element)).toBe(true);
  await field.press("Escape");
  await page.getByRole("main").getByRole("group", { name: "Today" }).getByText("One").waitFor();
});

test("shows the sessions of one folder", async () => {
  await using daemon = await FakeDaemon.start();
  await daemon.createSession("Above");
  const folder = join(daemon.api.root, "below");
  await mkdir(folder);
  await daemon.createSession("Below", { cwd: folder });
  const page = await browser.open(daemon, "/sessions");
  const main = page.getByRole("main");
  await main.getByRole("link", { name: /Above/ }).waitFor();
  await main.getByRole("combobox", { name: "Folder" }).selectOption(folder);
  await main.getByRole("link", { name: /Above/ }).waitFor({ state: "detached" });
  await page.reload();
  await main.getByRole("link", { name: /Below/ }).waitFor();
  expect(await main.getByRole("link", { name: /Above/ }).count()).toBe(0);
});

test("searches on the server", async () => {
  await using daemon = await FakeDaemon.start();
  await daemon.createSession("Apples");
  await daemon.createSession("Oranges");
  const page = await browser.open(daemon, "/sessions");
  const main = page.getByRole("main");
  await main.getByRole("link", { name: /Oranges/ }).waitFor();
  await main.getByLabel("Search sessions").fill("apple");
  await main.getByRole("link", { name: /Oranges/ }).waitFor({ state: "detached" });
  await main.getByRole("link", { name: /Apples/ }).waitFor();
});

test("imports, follows and forks a thread of the Codex CLI", { timeout: 240_000 }, async () => {
  await using home = await DaemonHome.create(({ lastUserText }) =>
    say(lastUserText === "Go on" ? "Continued." : "The login page is done."),
  );
  await runCli(home, "Build the login page");
  await using daemon = await home.start({ cliHome: home.folders.codexHome });
  const page = await browser.open(daemon, "/sessions?from=cli");
  const main = page.getByRole("main");
  await main.getByLabel("Search threads").fill("login page");
  await main.getByRole("button", { name: /Build the login page/ }).click();
  await main.getByText("The login page is done.").waitFor();
  await main.getByText("Following").waitFor();
  await takeScreenshot(page, "cli-thread");
  await main.getByRole("button", { name: "Continue here" }).click();
  await page.waitForURL(/\/console\/s\//);
  await page.getByText("The login page is done.").first().waitFor(TURN);
  const message = page.getByRole("textbox", { name: "Message" });
  await message.fill("Go on");
  await message.press("Enter");
  await page.getByText("Continued.").first().waitFor(TURN);
});

test.each([
  ["/sessions", "Sessions"],
  ["/new", "New session"],
  ["/usage", "Usage"],
  ["/settings", "Settings"],
  ["/pair", "Pair a device"],
  ["/replay", "Replay"],
] as const)(
  "has no violation on %s in both themes and widths",
  { timeout: 240_000 },
  async (path, heading) => {
    await using daemon = await FakeDaemon.start();
    const session = await daemon.createSession("Fix the parser", { budget: { totalTokens: 200_000 } });
    await session.exchange("Why?", "Because.");
    for (const colorScheme of ["light", "dark"] as const) {
      for (const viewport of [DESKTOP, PHONE]) {
        const page = await browser.open(daemon, path, { colorScheme, viewport });
        await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
        await takeScreenshot(page, `${path.slice(1)}-${viewport.width}-${colorScheme}`);
        await expectAccessible(page);
        expect(
          await page.evaluate(
            () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
          ),
        ).toBe(true);
      }
    }
  },
);

/** Runs `codex exec`, as a person does in a terminal. */
async function runCli({ folders }: DaemonHome, prompt: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const child = execFile(
      findCodex().path,
      ["exec", "--skip-git-repo-check", prompt],
      { env: folders.env, cwd: folders.workspace },
      (error) => (error ? reject(error) : resolve()),
    );
    child.stdin?.end();
  });
}
