import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

/** Not part of the repository. */
const FOLDER = join(import.meta.dirname, "../../artifacts");

/** Stores a picture of the page for people to look at, if `CONSOLE_SCREENSHOTS` is set. Nothing is compared. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (!process.env["CONSOLE_SCREENSHOTS"]) return;
  mkdirSync(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: "disabled", caret: "hide" });
}
