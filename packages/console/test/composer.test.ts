import { gate, say, type ScriptRequest, ScriptedModel, waitFor } from "@codexkit/scripted-model";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import {
  expectAccessible,
  FakeDaemon,
  LOST_CONNECTION,
  PHONE,
  startRealDaemon,
  takeScreenshot,
  useBrowser,
} from "./rig/index.ts";

const browser = useBrowser();

/** A turn of the real codex takes a while on a busy machine. */
const TURN = { timeout: 60_000 };

/** One pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

function composer(page: Page) {
  return page.getByRole("textbox", { name: "Message" });
}

test(
  "creates a session, streams an answer, queues, steers, forks and reverts",
  { timeout: 240_000 },
  async () => {
    const release = gate();
    const script = ({ lastUserText }: ScriptRequest) => {
      if (lastUserText === "hold") return say(["Holding", waitFor(release), " no longer."]);
      return say(`Answer to ${lastUserText}.`);
    };
    await using model = await ScriptedModel.start(script);
    await using daemon = await startRealDaemon(model);
    const page = await browser.open(daemon, "/new", { expectedProblems: [/400 .*\/sessions\?/] });
    await page.getByLabel("Folder", { exact: true }).fill("relative");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("Enter the whole path").waitFor();
    await page.getByLabel("Folder", { exact: true }).fill("/no/such/folder");
    await page.getByLabel("First message").fill("one");
    await page.getByRole("button", { name: "Start" }).click();
    // The daemon says so, not the form.
    await page
      .locator('input[aria-invalid="true"]')
      .and(page.getByLabel("Folder", { exact: true }))
      .waitFor();
    await page.reload();
    expect(await page.getByLabel("First message").inputValue()).toBe("one");
    await page.getByLabel("Folder", { exact: true }).fill(daemon.workspace);
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("Answer to one.").first().waitFor(TURN);

    await composer(page).fill("hold");
    await composer(page).press("Enter");
    await page.getByText("Holding").first().waitFor(TURN);
    expect(await composer(page).inputValue()).toBe("");
    await composer(page).fill("next");
    await composer(page).press("Control+Enter");
    const queue = page.getByRole("region", { name: "Messages that wait" });
    await queue.getByText("next", { exact: true }).first().waitFor();
    await queue.getByRole("button", { name: "Edit" }).click();
    await expect.poll(async () => composer(page).inputValue()).toBe("next");
    await queue.waitFor({ state: "detached" });
    await composer(page).press("Control+Enter");
    await queue.waitFor();
    await composer(page).fill("steered");
    await composer(page).press("Alt+Enter");
    await page.getByText("steered").first().waitFor(TURN);
    release.open();
    await page.getByText("Answer to next.").first().waitFor(TURN);
    await queue.waitFor({ state: "detached" });
    await expect.poll(() => model.requests.some(({ lastUserText }) => lastUserText === "steered")).toBe(true);

    await composer(page).fill("/revert");
    await composer(page).press("Enter");
    await page.getByText("The last turn is removed from the history.").waitFor();
    await expect.poll(async () => page.getByRole("log").getByText("Answer to next.").count()).toBe(0);

    const before = page.url();
    await composer(page).fill("/fork Another way");
    await composer(page).press("Enter");
    await expect.poll(() => page.url()).not.toBe(before);
    await page.getByText("Answer to one.").first().waitFor(TURN);
    await page.getByRole("heading", { name: "Another way" }).first().waitFor();
  },
);

test(
  "completes files and commands, runs a shell command, and interrupts with two Escapes",
  { timeout: 240_000 },
  async () => {
    const never = gate();
    await using daemon = await startRealDaemon(() => say(["Working", waitFor(never)]));
    const { session } = await daemon.client.createSession(
      { cwd: daemon.workspace, name: "Work" },
      { wait: 20_000 },
    );
    await daemon.client.files(session.id).write("parser.txt", "contents");
    const page = await browser.open(daemon, `/s/${session.id}`);
    await composer(page).pressSequentially("look at @pars");
    await page.getByRole("option", { name: "parser.txt" }).waitFor();
    await composer(page).press("Enter");
    expect(await composer(page).inputValue()).toBe("look at @parser.txt ");
    await page.reload();
    expect(await composer(page).inputValue()).toBe("look at @parser.txt ");
    await composer(page).fill("");
    await composer(page).pressSequentially("/co");
    await page.getByRole("option", { name: /compact/ }).waitFor();
    await composer(page).press("Tab");
    expect(await composer(page).inputValue()).toBe("/compact ");
    await composer(page).fill("!echo shell-$((40 + 2))");
    await composer(page).press("Enter");
    await page.getByText("shell-42").first().waitFor(TURN);
    await composer(page).fill("work");
    await composer(page).press("Enter");
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await composer(page).press("ArrowUp");
    expect(await composer(page).inputValue()).toBe("work");
    await composer(page).fill("");
    await composer(page).press("Escape");
    await page.getByText("Press Escape again").waitFor();
    // On a busy machine two presses may be too far apart.
    const stop = page.getByRole("button", { name: "Stop" });
    while (await stop.isVisible()) await composer(page).press("Escape");
  },
);

test("sends an image by the button, and shows it before it is sent", { timeout: 240_000 }, async () => {
  await using model = await ScriptedModel.start(() => say("Seen."));
  await using daemon = await startRealDaemon(model);
  const { session } = await daemon.client.createSession(
    { cwd: daemon.workspace, name: "Work" },
    { wait: 20_000 },
  );
  const page = await browser.open(daemon, `/s/${session.id}`);
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: "pixel.png", mimeType: "image/png", buffer: PNG });
  const image = page.getByRole("img", { name: "pixel.png" });
  await image.waitFor();
  await expect
    .poll(async () => image.evaluate((element) => (element as HTMLImageElement).naturalWidth))
    .toBe(1);
  await page.reload();
  await image.waitFor();
  await composer(page).fill("What is this?");
  await composer(page).press("Enter");
  await page.getByText("Seen.").first().waitFor(TURN);
  expect(JSON.stringify(model.requests.at(-1))).toContain("data:image/png;base64");
});

test(
  "keeps messages while the daemon is away, and sends each of them once",
  { timeout: 240_000 },
  async () => {
    await using daemon = await FakeDaemon.start();
    const session = await daemon.createSession();
    const page = await browser.open(daemon, `/s/${session.id}`, { expectedProblems: [LOST_CONNECTION] });
    await composer(page).waitFor();
    await page.context().setOffline(true);
    await composer(page).fill("kept");
    await composer(page).press("Enter");
    const queue = page.getByRole("region", { name: "Messages that wait" });
    await queue.getByText("not sent yet").waitFor();
    await takeScreenshot(page, "composer-not-sent");
    await page.context().setOffline(false);
    await queue.waitFor({ state: "detached" });
    const commands = await daemon.database.store.db
      .selectFrom("command")
      .select("key")
      .where("kind", "=", "message")
      .execute();
    expect(commands).toHaveLength(1);
  },
);

test("typing changes nothing of the transcript", { timeout: 240_000 }, async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  await session.exchange("Question", "Answer");
  const page = await browser.open(daemon, `/s/${session.id}`);
  await page.getByText("Answer").first().waitFor();
  await composer(page).click();
  await page.evaluate(() => {
    const log = document.querySelector('[role="log"]');
    if (!log) throw new Error("The page has no transcript.");
    let count = 0;
    new MutationObserver((records) => {
      count += records.length;
      document.body.dataset["mutations"] = String(count);
    }).observe(log, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  await composer(page).pressSequentially("a long message");
  expect(await page.evaluate(() => document.body.dataset["mutations"] ?? "0")).toBe("0");
});

test.each(["light", "dark"] as const)(
  "is accessible in %s, also on a phone",
  { timeout: 240_000 },
  async (colorScheme) => {
    await using daemon = await FakeDaemon.start();
    const session = await daemon.createSession();
    await session.startTurn("Work");
    const page = await browser.open(daemon, `/s/${session.id}`, { colorScheme, viewport: PHONE });
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await composer(page).pressSequentially("/");
    await page.getByRole("option").first().waitFor();
    await expectAccessible(page);
    await takeScreenshot(page, `composer-phone-${colorScheme}`);
  },
);

test("a mode without a sandbox is confirmed, and a refused mode is not shown as the current one", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Work", { permissionMode: "workspace-write" });
  const page = await browser.open(daemon, `/s/${session.id}`, {
    expectedProblems: [/409 .*\/settings/],
  });
  const menu = page.getByRole("combobox", { name: "Permissions" });
  await menu.focus();
  await page.keyboard.press("ArrowDown");
  const dialog = page.getByRole("dialog", { name: "Switch to Full access?" });
  await dialog.waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await expect.poll(async () => menu.inputValue()).toBe("workspace-write");
  daemon.faults.override(`PATCH /sessions/${session.id}/settings`, {
    status: 409,
    json: { type: "conflict", title: "Conflict", status: 409, detail: "Settings are locked." },
  });
  await menu.selectOption("bypass");
  await page.getByRole("button", { name: "Switch", exact: true }).click();
  await page.getByText("Settings are locked.").waitFor();
  await expect.poll(async () => menu.inputValue()).toBe("workspace-write");
});

test("a login that expires keeps the draft, and another person does not see it", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Work");
  const page = await browser.open(daemon, `/s/${session.id}`, {
    isLoggedIn: false,
    expectedProblems: [/status of 401/, LOST_CONNECTION],
  });
  const login = page.getByLabel("Token or one-time code");
  const signIn = async (token = ""): Promise<void> => {
    await login.fill(token);
    await page.keyboard.press("Enter");
  };
  const expire = async (): Promise<void> => {
    await page.context().clearCookies();
    // Closed repeatedly, because a stream that the page is opening now still has the cookie.
    await expect
      .poll(async () => {
        daemon.faults.closeStreams();
        return login.isVisible();
      })
      .toBe(true);
  };
  await signIn(daemon.token);
  await composer(page).fill("half a sentence");
  await expire();
  await signIn(daemon.token);
  await expect.poll(async () => composer(page).inputValue()).toBe("half a sentence");
  await page.reload();
  await expect.poll(async () => composer(page).inputValue()).toBe("half a sentence");
  await expire();
  const otherToken = await daemon.api.createToken(["read", "write"]);
  await Promise.all([page.waitForEvent("load"), signIn(otherToken)]);
  expect(await composer(page).inputValue()).toBe("");
});
