import { expect, test } from "vitest";
import { FakeDaemon, useBrowser } from "./rig/index.ts";
import { createNormalSession } from "./states.ts";

const browser = useBrowser();

test("every control is reached with Tab alone, shows its focus, and none is a trap", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await createNormalSession(daemon);
  const page = await browser.open(daemon, `/s/${session.id}`);
  await page.getByText("docker compose up").first().waitFor();
  await page.locator("body").press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/Skip to/);
  const visited = new Set<string>();
  for (let step = 0; step < 150; step += 1) {
    const focus = await page.evaluate(() => {
      const element = document.activeElement;
      if (!(element instanceof HTMLElement) || element === document.body) return undefined;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
      const all = [...document.querySelectorAll("*")];
      return {
        key: `${all.indexOf(element)} ${element.tagName} ${element.textContent.slice(0, 40)}`,
        isShown: (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none",
      };
    });
    // The end of the page, or its start again.
    if (!focus || visited.has(focus.key)) break;
    expect(focus).toMatchObject({ isShown: true });
    visited.add(focus.key);
    await page.keyboard.press("Tab");
  }
  expect(visited.size).toBeGreaterThan(10);
  const names = [...visited].join("\n");
  for (const name of ["Skip to", "Inbox", "Usage", "Allow once", "Decline"]) expect(names).toContain(name);
}, 240_000);

test("an approval is answered by keyboard, not too early and not by Enter on the card", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Fix the parser");
  await session.startTurn("Run the tests");
  const id = await session.askForCommand("npm test && docker compose up -d");
  const page = await browser.open(daemon, "/inbox");
  const card = page.getByRole("article", { name: "Run a command" });
  await card.waitFor();
  const stateOf = async () => (await daemon.database.inbox.get(id))?.state;
  await card.focus();
  await page.keyboard.press("Enter");
  expect(await stateOf()).toBe("open");
  await expect
    .poll(async () => {
      await page.keyboard.press("a");
      return stateOf();
    })
    .toBe("answered");
});

test("a dialog that opens before the browser reports that the last one was closed stays open", async () => {
  await using daemon = await FakeDaemon.start();
  const page = await browser.open(daemon, "/inbox");
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  // Loads the code of the sheet.
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search or command" }).waitFor();
  // The `close` event of a dialog is sent in a later task.
  await page.evaluate(async () => {
    const palette = document.querySelector("dialog");
    if (!palette) throw new Error("There is no dialog.");
    const closed = new Promise((resolve) => {
      palette.addEventListener("close", resolve, { once: true });
    });
    palette.close();
    // Until the next frame, the field of the dialog has the focus.
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
    await closed;
  });
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(1);
  // Keys of the page don't act behind it.
  await page.keyboard.press("c");
  await page.keyboard.press("Control+k");
  expect(page.url()).toMatch(/\/inbox$/);
  expect(await page.getByRole("dialog", { name: "Search or command" }).count()).toBe(0);
});

test("keys lead to the screens, and are off in fields", async () => {
  await using daemon = await FakeDaemon.start();
  await daemon.createSession("Fix the parser");
  const page = await browser.open(daemon, "/inbox");
  await page.getByText("Nothing waits").waitFor();
  // A sequence has to be fast, which a busy machine may not be.
  await expect
    .poll(async () => {
      await page.keyboard.press("g");
      await page.keyboard.press("s");
      return page.url();
    })
    .toContain("/console/sessions");
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog");
  await sheet.waitFor();
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "hidden" });
  const field = page.getByRole("searchbox").first();
  await field.focus();
  await page.keyboard.type("gi");
  expect(page.url()).toContain("/console/sessions");
  expect(await field.inputValue()).toBe("gi");
});
