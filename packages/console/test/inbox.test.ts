import { expect, test } from "vitest";
import { FakeDaemon, PHONE, takeScreenshot, useBrowser } from "./rig/index.ts";

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
