import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, FakeDaemon, PHONE, takeScreenshot, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

test("keys are changed, switched off and reset, and stay so", async () => {
  await using daemon = await FakeDaemon.start();
  const page = await browser.open(daemon, "/settings");
  await page.keyboard.press("?");
  await page.getByRole("link", { name: "Change them or switch them off" }).click();
  const change = (label: string): Promise<void> =>
    page
      .getByRole("button", { name: `Change the keys of ${label}`, exact: true })
      .first()
      .click();
  await change("Inbox");
  await page.keyboard.press("b");
  await page.keyboard.press("Enter");
  expect(await keysOf(page, "Inbox")).toBe("b");

  // Keys of another shortcut are refused, and say whose they are.
  await change("Usage");
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByText("g s is the key of “Sessions”.").waitFor();
  expect(await keysOf(page, "Usage")).toBe("gu");
  // Escape changes nothing.
  await change("Usage");
  await page.keyboard.press("Escape");
  expect(await keysOf(page, "Usage")).toBe("gu");
  await page.getByRole("button", { name: "Switch off the keys of New session" }).click();
  expect(await keysOf(page, "New session")).toBe("off");
  await takeScreenshot(page, "settings-keys");
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await expectAccessible(page);

  await page.reload();
  await page.getByRole("heading", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("c");
  await page.keyboard.press("b");
  await page.waitForURL("**/console/inbox");

  await page.goto("/console/settings#keys");
  await page.getByRole("button", { name: "Reset the keys of Inbox" }).click();
  expect(await keysOf(page, "Inbox")).toBe("gi");
  await page.getByRole("button", { name: "Reset all keys" }).click();
  expect(await keysOf(page, "New session")).toBe("c");
});

async function keysOf(page: Page, label: string): Promise<string> {
  const row = page.getByRole("listitem").filter({ has: page.getByText(label, { exact: true }) });
  return row.first().locator(".key-keys").innerText();
}
