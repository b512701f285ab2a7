import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { FakeDaemon, type FakeSession, untilStill, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

async function isAnswered(daemon: FakeDaemon, id: string): Promise<boolean> {
  return (await daemon.database.inbox.get(id))?.answer !== null;
}

function allowButton(page: Page, id: string): Locator {
  return page.locator(`#approval-${id}`).getByRole("button", { name: "Allow once" });
}

/** Two requests. The first card is higher by so much that the second card's button takes its button's place when it shrinks. */
async function openTwo(daemon: FakeDaemon, place: "inbox" | "transcript") {
  const session = await daemon.createSession("first");
  const other: FakeSession = place === "inbox" ? await daemon.createSession("second") : session;
  await session.startTurn("Go");
  const path = place === "inbox" ? "/inbox" : `/s/${session.id}`;
  const ask = async (asking: FakeSession, command: string): Promise<string> =>
    asking.ask({
      kind: "command",
      action: "execute",
      command,
      cwd: "/work/app",
      reason: null,
      network: null,
      additionalPermissions: null,
    });
  const first = await ask(session, "first\n".repeat(6).trim());
  const second = await ask(other, "second");
  const page = await browser.open(daemon, path);
  for (const id of [first, second]) {
    await allowButton(page, id).waitFor();
    await untilStill(page.locator(`#approval-${id}`));
  }
  const box = await allowButton(page, first).boundingBox();
  if (!box) throw new Error("The card has no button.");
  return { page, first, second, x: box.x + 20, y: box.y + box.height / 2 };
}

/**
 * Waits until the first card has shrunk or gone, and nothing moves any more. Then moves the second card so that its button is under
 * the pointer.
 */
async function slideUnder(page: Page, first: string, second: string, y: number): Promise<void> {
  await allowButton(page, first).waitFor({ state: "detached" });
  // The answer reaches the page as a response and as an event, and both may move the second card.
  await expect.poll(async () => page.title()).toMatch(/^\(1\) /);
  await untilStill(page.locator(`#approval-${second}`));
  await page.evaluate(
    ([id, to]) => {
      const button = document.querySelector(`#approval-${id} [data-accepts=true]`);
      const card = document.querySelector<HTMLElement>(`#approval-${id}`);
      if (!button || !card) throw new Error("The second card is missing.");
      const { top, height } = button.getBoundingClientRect();
      card.style.position = "relative";
      card.style.top = `${to - top - height / 2}px`;
    },
    [second, y] as const,
  );
}

describe.each(["inbox", "transcript"] as const)("in the %s", (place) => {
  test("a double click on one card does not allow the card that takes its place", async () => {
    await using daemon = await FakeDaemon.start();
    const { page, first, second, x, y } = await openTwo(daemon, place);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.up();
    await slideUnder(page, first, second, y);
    expect(
      await page.evaluate(
        ([left, top]) => document.elementFromPoint(left, top)?.closest("[data-approval]")?.id,
        [x, y] as const,
      ),
    ).toBe(`approval-${second}`);
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await page.getByText("The request has just moved. Press again.").waitFor();
    await expect.poll(async () => isAnswered(daemon, first)).toBe(true);
    // Once it has stayed there, it can be allowed.
    await allowButton(page, second).and(page.locator("[aria-disabled=false]")).waitFor();
    expect(await isAnswered(daemon, second)).toBe(false);
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(async () => isAnswered(daemon, second)).toBe(true);
  });

  test("a click does not allow a card that moved because another browser answered", async () => {
    await using daemon = await FakeDaemon.start();
    const { page, first, second, x, y } = await openTwo(daemon, place);
    await page.mouse.move(x, y);
    await daemon.api.request(`POST /inbox/${first}/answer`, { json: { type: "decision", offer: "decline" } });
    await slideUnder(page, first, second, y);
    await page.mouse.down();
    await page.mouse.up();
    await allowButton(page, second).and(page.locator("[aria-disabled=false]")).waitFor();
    expect(await isAnswered(daemon, second)).toBe(false);
  });
});

test("a press that began on another card, or before the card moved, allows nothing", async () => {
  await using daemon = await FakeDaemon.start();
  const { page, second } = await openTwo(daemon, "inbox");
  // A tap: the browser sends the click to what is there when the finger is lifted.
  await page.evaluate((id) => {
    const [other, target] = [...document.querySelectorAll("[data-approval]")].map((card) =>
      card.querySelector("[data-accepts=true]"),
    );
    if (target?.closest("[data-approval]")?.id !== `approval-${id}`)
      throw new Error("The order is different.");
    other?.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
    target.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
  }, second);
  await page.waitForTimeout(300);
  expect(await isAnswered(daemon, second)).toBe(false);
  // Space has no pointer.
  await allowButton(page, second).press("Space");
  await expect.poll(async () => isAnswered(daemon, second)).toBe(true);
});
