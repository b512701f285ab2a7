import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { FakeDaemon, type FakeSession, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

const CODE = Array.from(
  { length: 100 },
  (_, line) => `const value${line} = compute(${line}); // line\n`,
).join("");
const FENCE = `\`\`\`ts\n${"const value = compute({ retries: 3, name: 'x' }); // line\n".repeat(50)}\`\`\`\n`;

async function untilApplied(page: Page, daemon: FakeDaemon, session: FakeSession): Promise<void> {
  const seq = await daemon.lastSeq(session);
  await expect
    .poll(async () => Number(await page.locator("[data-seq]").first().getAttribute("data-seq")))
    .toBeGreaterThanOrEqual(seq);
  await nextFrame(page);
}

async function nextFrame(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}

test("changes only the text that grows when a long paragraph is written", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  const turn = await session.startTurn("Write");
  const message = await turn.beginMessage();
  await message.write(["Some *emphasised* text with `code` and a [link](https://example.com). ".repeat(20)]);
  const page = await browser.open(daemon, `/s/${session.id}`);
  await page.getByRole("log").getByText("emphasised").first().waitFor();
  await nextFrame(page);
  await page.evaluate(() => {
    const counts = { added: 0, removed: 0 };
    Object.assign(globalThis, { counts });
    new MutationObserver((records) => {
      for (const { addedNodes, removedNodes } of records) {
        counts.added += addedNodes.length;
        counts.removed += removedNodes.length;
      }
    }).observe(document.querySelector(".row-text .md") as Element, { subtree: true, childList: true });
  });
  for (let index = 0; index < 10; index += 1) {
    await message.write([`word${index} `]);
    await untilApplied(page, daemon, session);
  }
  await message.write(["and **bold** text."]);
  await untilApplied(page, daemon, session);
  const counts = await page.evaluate(() => (globalThis as unknown as { counts: object }).counts);
  // The bold text and what follows it. The paragraph alone has 120 nodes.
  expect(counts).toEqual({ added: 2, removed: 0 });
  await message.write(["\n\nThe end."]);
  await message.end();
  await turn.complete();
  await page.getByRole("log").getByText("The end.").waitFor();
  const streamed = await textRows(page);
  await page.reload();
  await page.getByRole("log").getByText("The end.").waitFor();
  expect(await textRows(page)).toEqual(streamed);
});

async function textRows(page: Page): Promise<string[]> {
  return page.locator(".row-text").evaluateAll((rows) => rows.map((row) => row.innerHTML));
}

test("lays the page out once per frame when a message is appended", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  for (let index = 0; index < 20; index += 1) await session.exchange(`Question ${index}`, FENCE);
  const page = await browser.open(daemon, `/s/${session.id}`, {
    prepare: async (each) => {
      await each.addInitScript(countReads);
    },
  });
  await page.getByRole("log").getByText("Question 19").first().waitFor();
  const turn = await session.startTurn("More");
  await turn.say("Warmed up.");
  await untilApplied(page, daemon, session);
  await page.evaluate(() => ((globalThis as unknown as { layoutReads: string[] }).layoutReads.length = 0));
  for (let index = 0; index < 5; index += 1) {
    await turn.say(`Appended ${index}.`);
    await untilApplied(page, daemon, session);
  }
  // Reads after the browser's own layout cost nothing. Others would lay out the page once more, in the middle of the frame.
  expect(await page.evaluate(() => (globalThis as unknown as { layoutReads: string[] }).layoutReads)).toEqual(
    [],
  );
});

/** Notes each read of a layout that is neither in a resize observer nor in a handler of an event. */
function countReads(): void {
  const layoutReads: string[] = [];
  let isFree = false;
  Object.assign(globalThis, { layoutReads });
  const note = (name: string): void => {
    if (!isFree && !globalThis.event) layoutReads.push(name);
  };
  const Original = ResizeObserver;
  globalThis.ResizeObserver = class extends Original {
    constructor(callback: ResizeObserverCallback) {
      super((entries, observer) => {
        isFree = true;
        callback(entries, observer);
        isFree = false;
      });
    }
  };
  const patch = (prototype: object, name: string): void => {
    const property = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
    const original = Reflect.get(property, property.get ? "get" : "value") as (
      ...parameters: unknown[]
    ) => unknown;
    const replacement = function read(this: unknown, ...parameters: unknown[]): unknown {
      note(name);
      return original.apply(this, parameters);
    };
    if (property.get) property.get = replacement;
    else property.value = replacement;
    Object.defineProperty(prototype, name, property);
  };
  for (const name of ["scrollTop", "scrollHeight", "clientHeight", "clientWidth", "getBoundingClientRect"])
    patch(Element.prototype, name);
  for (const name of ["offsetTop", "offsetHeight", "offsetWidth"]) patch(HTMLElement.prototype, name);
}

test("colours code near the screen only, keeps it copyable, and has few nodes in a long history", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  for (let index = 0; index < 20; index += 1) await session.exchange(`Question ${index}`, FENCE);
  await session.exchange("The last", `\`\`\`ts\n${CODE}\`\`\`\n\nThe end.`);
  const page = await browser.open(daemon, `/s/${session.id}`);
  const log = page.getByRole("log");
  await log.getByText("The end.").waitFor();
  const last = log.locator("pre code").last();
  await expect.poll(async () => last.locator(".code-keyword").count()).toBeGreaterThan(20);
  // 100 lines are four parts, of which the first one is above the screen.
  await expect.poll(async () => last.locator(".code-lines").first().locator("span").count()).toBe(0);
  expect(await last.textContent()).toBe(CODE.trimEnd());
  const copied = await last.evaluate((code) => {
    getSelection()?.selectAllChildren(code);
    const text = String(getSelection());
    getSelection()?.removeAllRanges();
    return text;
  });
  expect(copied.trimEnd()).toBe(CODE.trimEnd());
  await log.hover();
  for (let step = 0; step < 10; step += 1) {
    expect(await countNodes(page)).toBeLessThanOrEqual(3_000);
    await page.mouse.wheel(0, -900);
    await nextFrame(page);
  }
});

async function countNodes(page: Page): Promise<number> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document);
    let count = 0;
    while (walker.nextNode()) count += 1;
    return count;
  });
}

test("keeps no memory of deltas that it has applied", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  const page = await browser.open(daemon, `/s/${session.id}`);
  const devTools = await page.context().newCDPSession(page);
  const heapAfter = async (turns: number): Promise<number> => {
    for (let index = 0; index < turns; index += 1) {
      const turn = await session.startTurn("Write");
      await turn.say(...Array.from({ length: 500 }, (_, at) => `word${at} `));
      await turn.complete();
    }
    await untilApplied(page, daemon, session);
    await devTools.send("HeapProfiler.collectGarbage");
    return (await devTools.send("Runtime.getHeapUsage")).usedSize;
  };
  const first = await heapAfter(10);
  const second = await heapAfter(10);
  // The texts of ten messages are 40 KB. 5,000 events would be more than a megabyte.
  expect(second - first).toBeLessThan(1_000_000);
});
