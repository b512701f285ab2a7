import { expect, test } from "vitest";
import { expectAccessible, FakeDaemon, PHONE, takeScreenshot, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

test("answers a command, and focuses the next request", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("fix parser");
  const other = await daemon.createSession("write docs");
  await session.startTurn("Run the tests");
  const first = await session.askForCommand("npm test && docker compose up -d");
  const second = await other.ask({
    kind: "userInput",
    isBlocking: true,
    questions: [
      {
        id: "colour",
        header: "Colour",
        question: "Which colour?",
        isOther: true,
        isSecret: false,
        options: [
          { label: "blue", description: "as the sky" },
          { label: "green", description: "as grass" },
        ],
      },
    ],
  });
  const page = await browser.open(daemon, "/inbox");
  const card = page.getByRole("article", { name: "Run a command" });
  await card.getByText("npm test && docker compose up -d").waitFor();
  await takeScreenshot(page, "inbox-light");
  await card.getByRole("button", { name: "Allow once" }).click();
  await page.getByText(/Allowed once by you/).waitFor();
  expect((await daemon.database.inbox.get(first))?.state).toBe("answered");
  await expect.poll(async () => page.evaluate(() => document.activeElement?.id)).toBe(`approval-${second}`);
  await takeScreenshot(page, "inbox-answered");
  const phone = await browser.open(daemon, "/inbox", {
    viewport: PHONE,
    colorScheme: "dark",
    hasTouch: true,
  });
  await phone.getByRole("article", { name: "Answer a question" }).waitFor();
  await takeScreenshot(phone, "inbox-phone-dark");
});

test("a deep link focuses its card, j and k move, and filters narrow the list", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("several");
  const first = await session.askForCommand("npm test");
  const second = await session.askForCommand("npm run lint");
  await session.ask({
    kind: "elicitation",
    server: "shop",
    mode: "url",
    message: "Sign in",
    schema: null,
    url: null,
  });
  const page = await browser.open(daemon, `/inbox#${second}`);
  const focused = async () => page.evaluate(() => document.activeElement?.id);
  await expect.poll(focused).toBe(`approval-${second}`);
  await page.keyboard.press("k");
  expect(await focused()).toBe(`approval-${first}`);
  await page.keyboard.press("j");
  expect(await focused()).toBe(`approval-${second}`);
  await page.getByRole("button", { name: "Forms 1" }).click();
  await expect.poll(async () => page.getByRole("article").count()).toBe(1);
  await expectAccessible(page);
});

test("the reason of a refusal keeps the focus while other requests arrive and change", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("asks");
  const other = await daemon.createSession("asks too");
  const first = await session.askForCommand("npm test");
  const page = await browser.open(daemon, "/inbox");
  const card = page.locator(`#approval-${first}`);
  await card.getByRole("button", { name: "Decline…" }).click();
  const reason = card.getByLabel("Tell the agent what to do instead");
  await reason.pressSequentially("just a ");
  const second = await other.askForCommand("npm run lint");
  await page.locator(`#approval-${second}`).waitFor();
  const third = await session.askForCommand("npm run build");
  await page.locator(`#approval-${third}`).waitFor();
  await daemon.api.request(`POST /inbox/${third}/answer`, { json: { type: "decision", offer: "decline" } });
  await page.getByText(/Declined by/).waitFor();
  expect(await reason.evaluate((field) => document.activeElement === field)).toBe(true);
  await page.keyboard.type("java thing");
  expect(await reason.inputValue()).toBe("just a java thing");
});

test("a hidden page notifies of each new request once, and of the first one too", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("asks");
  const page = await browser.open(daemon, "/inbox", {
    prepare: async (opened) => {
      await opened.addInitScript(() => {
        localStorage.setItem("codexkit.preferences", JSON.stringify({ notifications: true }));
        Object.defineProperty(document, "hidden", { get: () => true });
        class RecordedNotification extends EventTarget {
          static permission = "granted";
          static readonly tags: string[] = [];
          constructor(_title: string, { tag }: { tag: string }) {
            super();
            RecordedNotification.tags.push(tag);
            // As in Chrome on Android.
            if (RecordedNotification.tags.length === 1) throw new TypeError("Illegal constructor.");
          }
        }
        Object.assign(globalThis, { Notification: RecordedNotification });
      });
    },
  });
  const tags = async () =>
    page.evaluate(() => (globalThis as unknown as { Notification: { tags: string[] } }).Notification.tags);
  await page.getByText("Nothing waits").waitFor();
  const first = await session.askForCommand("npm test");
  await expect.poll(tags).toEqual([first]);
  const second = await session.askForCommand("npm run lint");
  await expect.poll(tags).toEqual([first, second]);
  await daemon.api.request(`POST /inbox/${second}/answer`, { json: { type: "decision", offer: "decline" } });
  await page.getByText(/Declined by/).waitFor();
  const third = await session.askForCommand("npm run build");
  await expect.poll(tags).toEqual([first, second, third]);
});

test("the answered tab is an audit, and an empty inbox says what runs", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("audited");
  await session.startTurn("Go on");
  const id = await session.askForCommand("npm test");
  const page = await browser.open(daemon, "/inbox", { device: "laptop" });
  await page.locator(`#approval-${id}`).getByRole("button", { name: "Decline and stop the turn" }).click();
  await page.getByText("Nothing waits").waitFor();
  await takeScreenshot(page, "inbox-empty");
  await page.getByRole("tab", { name: "Answered" }).click();
  await page.getByText(/Declined, turn stopped by you/).waitFor();
  await page.getByText(/Run a command: npm test/).click();
  await page.getByText("needs the database to run the tests").waitFor();
  await takeScreenshot(page, "inbox-audit");
  await expectAccessible(page);
});

test("answers several requests of one rule alike, after showing each of them", async () => {
  await using daemon = await FakeDaemon.start();
  const one = await daemon.createSession("one");
  const other = await daemon.createSession("other");
  await one.askForCommand("npm test && docker compose up -d");
  await one.askForCommand("npm test && docker compose down");
  const third = await other.askForCommand("npm test && docker ps");
  await other.askForCommand("npm test");
  const page = await browser.open(daemon, "/inbox");
  const open = page.getByRole("button", { name: "Answer 3 like this…" });
  await expect.poll(async () => open.count()).toBe(3);
  await open.first().click();
  const dialog = page.getByRole("dialog", { name: "Answer requests alike" });
  for (const command of ["docker compose up -d", "docker compose down", "docker ps"]) {
    await dialog.getByText(`npm test && ${command}`).waitFor();
  }
  await takeScreenshot(page, "inbox-alike");
  await expectAccessible(page);
  // Another person is faster with one of them.
  await daemon.api.request(`POST /inbox/${third}/answer`, { json: { type: "decision", offer: "decline" } });
  await dialog.getByRole("heading", { name: "Answer 2 requests alike" }).waitFor();
  // Enter allows nothing.
  await dialog.getByRole("button", { name: "Allow all once" }).press("Enter");
  await expect.poll(async () => dialog.count()).toBe(1);
  await dialog
    .getByRole("button", { name: "Allow all once" })
    .and(page.locator("[aria-disabled=false]"))
    .click();
  await expect.poll(async () => page.getByText(/Allowed once by you/).count()).toBe(2);
  expect(await page.getByText(/Declined by/).count()).toBe(1);
  expect(await page.getByRole("article", { name: "Run a command" }).count()).toBe(1);
});
