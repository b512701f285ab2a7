import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** WCAG 2.2 AA, and the best practices of axe. */
const OPTIONS: RunOptions = {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  resultTypes: ["violations"],
};

/** Fails if axe finds a violation on the page. */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluation by the debugger is not subject to the content security policy; a script element would be.
  await page.evaluate(source);
  const { violations } = await page.evaluate(
    async (options) =>
      (globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } }).axe.run(options),
    OPTIONS as object,
  );
  const found = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${help})\n${html}\n${failureSummary ?? ""}`),
  );
  expect(found).toEqual([]);
}

/**
 * Compares the accessibility tree of a part of the page with the file `aria/name.txt` beside the tests. `vitest -u` updates it.
 * Values that differ between runs are replaced.
 */
export async function expectAriaSnapshot(
  part: Page | Locator,
  name: string,
  replacements: readonly (readonly [RegExp, string])[] = [],
): Promise<void> {
  const locator = "goto" in part ? part.locator("body") : part;
  let text = await readSettledTree(locator);
  for (const [pattern, replacement] of [...replacements, ...VARYING])
    text = text.replaceAll(pattern, replacement);
  await expect(`${text}\n`).toMatchFileSnapshot(`./aria/${name}.txt`);
}

/** Frames without a change after which a page is taken as settled: rows of a list are mounted over several. */
const SETTLED_FRAMES = 5;

async function readSettledTree(locator: Locator): Promise<string> {
  let text = await locator.ariaSnapshot();
  for (let same = 0; same < SETTLED_FRAMES;) {
    await locator.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    const next = await locator.ariaSnapshot();
    same = next === text ? same + 1 : 0;
    text = next;
  }
  return text;
}

const VARYING: readonly (readonly [RegExp, string])[] = [
  // A busy machine is later than the first second of a session.
  [/\bnow(?=$|":)/gm, "TIME"],
  [/\/tmp\/[\w./-]+/g, "FOLDER"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "ID"],
];
