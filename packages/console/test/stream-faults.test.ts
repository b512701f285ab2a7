import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAriaSnapshot, FakeDaemon, LOST_CONNECTION, useBrowser } from "./rig/index.ts";
import { createNormalSession } from "./states.ts";

const browser = useBrowser();

test("messages and characters that are split between packets arrive whole", async () => {
  await using daemon = await FakeDaemon.start();
  daemon.faults.splitStreams(7);
  const session = await daemon.createSession("Pieces");
  const turn = await session.startTurn("Write in pieces");
  const page = await browser.open(daemon, `/s/${session.id}`);
  await page.getByRole("log").getByText("Write in pieces").first().waitFor();
  await turn.say(...Array.from("Ünïcödé 🦦 and 漢字, ".repeat(10)), "the end.");
  await page.getByRole("log").getByText("the end.").first().waitFor();
  expect(await page.getByRole("log").innerText()).toContain("Ünïcödé 🦦 and 漢字, ".repeat(10) + "the end.");
});

test("a burst of 5,000 deltas over connections that close is shown whole and once", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Burst");
  const turn = await session.startTurn("Write a lot");
  const message = await turn.beginMessage();
  const page = await browser.open(daemon, `/s/${session.id}`, {
    viewport: { width: 1280, height: 8000 },
    expectedProblems: [LOST_CONNECTION],
  });
  await page.getByRole("log").getByText("Write a lot").first().waitFor();
  for (let part = 0; part < 5; part += 1) {
    await message.write(Array.from({ length: 1000 }, (_, index) => `w${part * 1000 + index} `));
    daemon.faults.closeStreams();
  }
  await message.write(["the end."]);
  await page.getByRole("log").getByText("the end.").first().waitFor();
  const words = (await page.getByRole("log").innerText()).match(/\bw\d+\b/g) ?? [];
  expect(words).toEqual(Array.from({ length: 5000 }, (_, index) => `w${index}`));
});

test("a stream that stalls goes on where it was, and a daemon that was away is followed again", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Away");
  const turn = await session.startTurn("Hello");
  const page = await browser.open(daemon, `/s/${session.id}`, { expectedProblems: [LOST_CONNECTION] });
  await page.getByRole("log").getByText("Hello").first().waitFor();
  daemon.faults.stall();
  await turn.say("Written while the stream stalls.");
  daemon.faults.resume();
  await page.getByRole("log").getByText("Written while the stream stalls.").first().waitFor();
  await daemon.faults.refuse();
  await turn.say("Written while the daemon was away.");
  await daemon.faults.listen();
  await page.getByRole("log").getByText("Written while the daemon was away.").first().waitFor();
  expect(await page.getByRole("log").getByText("Written while the stream stalls.").count()).toBe(1);
});

test("a page that is newer than its restored store reads everything again", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Restored");
  const turn = await session.startTurn("Hello");
  const page = await browser.open(daemon, `/s/${session.id}`, {
    expectedProblems: [LOST_CONNECTION],
  });
  const log = page.getByRole("log");
  await log.getByText("Hello").first().waitFor();
  const read: string[] = [];
  page.on("request", (request) => read.push(new URL(request.url()).pathname));
  let refusals = 0;
  daemon.faults.override("GET /events", () => {
    refusals += 1;
    if (refusals > 2) return undefined;
    return {
      status: 400,
      json: { type: "invalid_cursor", title: "Invalid cursor", status: 400, detail: "It is in the future." },
    };
  });
  daemon.faults.closeStreams();
  await expect.poll(() => read.filter((path) => path === `/sessions/${session.id}`).length).toBe(2);
  await turn.say("After the restore.");
  await log.getByText("After the restore.").waitFor();
  expect(await log.getByText("Hello").count()).toBe(1);
});

test("a session and the inbox have the accessibility trees of their baselines", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await createNormalSession(daemon);
  const prepare = async (page: Page): Promise<void> => {
    await page.clock.setFixedTime(Date.now() + 60_000);
  };
  const times = [
    [/\d+ ?(?:ms|s|m)\b(?: \d+ ?s\b)?/g, "TIME"],
    // Buttons are off for the first 400 ms.
    [/ \[disabled\]/g, ""],
  ] as const;
  const page = await browser.open(daemon, "/inbox", { prepare });
  await page.getByText("docker compose up").first().waitFor();
  await expectAriaSnapshot(page.getByRole("main"), "inbox", times);
  const other = await browser.open(daemon, `/s/${session.id}`, { prepare });
  const card = other.getByRole("article", { name: "Run a command" });
  await card.waitFor();
  await expectAriaSnapshot(card, "approval", times);
  await expectAriaSnapshot(other.getByRole("banner"), "banner", times);
});
