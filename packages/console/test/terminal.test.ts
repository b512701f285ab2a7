import { say } from "@codexkit/scripted-model";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, startRealDaemon, takeScreenshot, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

function screen(page: Page) {
  return page.locator(".xterm-rows");
}

test(
  "runs a shell, survives a reload, and has one writer among several viewers",
  { timeout: 240_000 },
  async () => {
    await using daemon = await startRealDaemon(() => say("Hello."));
    const { session } = await daemon.client.createSession(
      { cwd: daemon.workspace, name: "Work" },
      { wait: 20_000 },
    );
    const page = await browser.open(daemon, `/s/${session.id}?p=terminal`);
    await page.getByRole("button", { name: "New terminal" }).click();
    await page.locator('[data-connection="attached"][data-writer="self"]').waitFor();
    await page.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("echo answer-$((6 * 7))\n");
    await expect.poll(async () => screen(page).innerText()).toContain("answer-42");
    await takeScreenshot(page, "terminal");

    await page.reload();
    await expect.poll(async () => screen(page).innerText()).toContain("answer-42");
    await page.locator('[data-writer="self"]').waitFor();

    const second = await browser.open(daemon, `/s/${session.id}?p=terminal`);
    await expect.poll(async () => screen(second).innerText()).toContain("answer-42");
    // It does not take the input, or change the size, without being asked to.
    await second.getByText("Another viewer has the input").waitFor();
    await page.locator('[data-writer="self"]').waitFor();
    await second.getByRole("button", { name: "Take over the input" }).click();
    await page.getByText("Another viewer has the input").waitFor();
    await page.getByRole("button", { name: "Take over the input" }).click();
    await page.locator('[data-writer="self"]').waitFor();
    await second.getByText("Another viewer has the input").waitFor();
    await page.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("echo again-$((7 * 7))\n");
    await expect.poll(async () => screen(second).innerText()).toContain("again-49");

    await page.keyboard.press("Control+Shift+Escape");
    await expect.poll(async () => page.locator(":focus").getAttribute("role")).toBe("tab");
    await page.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("exit 3\n");
    await page.getByText("The program has ended with exit code 3.").waitFor();
  },
);

test("has a copy for screen readers, and no violation", { timeout: 240_000 }, async () => {
  await using daemon = await startRealDaemon(() => say("Hello."));
  const { session } = await daemon.client.createSession(
    { cwd: daemon.workspace, name: "Work" },
    { wait: 20_000 },
  );
  const page = await browser.open(daemon, `/s/${session.id}?p=terminal`);
  await page.getByLabel("Screen reader").check();
  await page.getByRole("button", { name: "New terminal" }).click();
  await page.locator('[data-writer="self"]').waitFor();
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.type("echo read-$((1 + 1))\n");
  await expect.poll(async () => page.locator(".xterm-accessibility").innerText()).toContain("read-2");
  await expectAccessible(page);
});
