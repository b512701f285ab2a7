import type { Locator } from "playwright-core";

/**
 * Presses a button of an approval, again if the card refused the press because it had just moved. Codex sends events at any time,
 * whose rows may move the card between the moment when the button is ready and the press.
 */
export async function pressButton(button: Locator, how: "click" | "tap" = "click"): Promise<void> {
  const announcement = button.page().getByText("The request has just moved. Press again.");
  const read = async (): Promise<string | undefined> => (await announcement.allTextContents())[0];
  for (;;) {
    // A repeated announcement differs from the one before.
    const before = await read();
    await button[how]();
    const after = await read();
    if (after === undefined || after === before) return;
  }
}

/** Waits until an element, such as a card, has been in its place for as long as people need to notice that it moved. */
export async function untilStill(target: Locator): Promise<void> {
  await target.evaluate(async (element) => {
    let place = "";
    for (
      let since = performance.now();
      performance.now() - since < 500 || element.matches(".approval-unsettled");
    ) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const { top, left, height } = element.getBoundingClientRect();
      if (place === `${top} ${left} ${height}`) continue;
      place = `${top} ${left} ${height}`;
      since = performance.now();
    }
  });
}
