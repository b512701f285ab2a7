import { expect, test } from "vitest";
import {
  DESKTOP,
  expectAccessible,
  FakeDaemon,
  type FakeSession,
  PHONE,
  takeScreenshot,
  useBrowser,
} from "./rig/index.ts";

const browser = useBrowser();

const ANSWER = `I found the problem: **\`parse\`** drops the last line. See [the issue](https://example.com/1) and \`src/parse.ts\`.

## What changes

- the splitter keeps its remainder
- a test covers *CRLF*
  1. nested one
  2. nested two

\`\`\`ts
export function split(text: string): string[] {
  // The remainder belongs to the next chunk.
  return text.split("\\n").filter((line) => line.length > 0);
}
\`\`\`

| case | before | after |
|---|---:|---:|
| LF | 12 | 12 |
| CRLF | 11 | 12 |

> Remote images are links: ![chart](https://example.com/chart.png)

<b>HTML stays text</b>`;

async function writeConversation(session: FakeSession): Promise<void> {
  const turn = await session.startTurn("The parser loses the last line of a file. Find out why and fix it.");
  for (const name of ["parse.ts", "split.ts"]) {
    await turn.add({
      type: "commandExecution",
      command: `sed -n 1,80p src/${name}`,
      cwd: "/srv/app",
      processId: null,
      source: "agent",
      status: "completed",
      commandActions: [{ type: "read", command: "sed", name, path: `/srv/app/src/${name}` }],
      aggregatedOutput: "…\n",
      exitCode: 0,
      durationMs: 40,
    });
  }
  await turn.add({
    type: "reasoning",
    summary: ["**Looking at the splitter**\n\nIt drops a remainder."],
    content: [],
  });
  await turn.run(
    "npm test",
    Array.from({ length: 40 }, (_, line) => `ok ${line} parses line ${line}`).join("\n"),
  );
  await turn.run("npm run lint", "src/parse.ts: unused variable\n", 1);
  await turn.patch("src/parse.ts", "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n");
  await turn.say(ANSWER);
  await turn.complete(ANSWER);
}

test("shows a conversation with all kinds of rows, in both themes and widths", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Fix the parser");
  await writeConversation(session);
  for (const [width, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.open(daemon, `/s/${session.id}`, { viewport, colorScheme });
      const log = page.getByRole("log");
      await log.getByText("I found the problem").waitFor();
      await log.getByRole("heading", { name: "What changes" }).waitFor();
      await log.getByRole("button", { name: /^Read 2 files/ }).waitFor();
      await log.getByText("exit 1").waitFor();
      await log.getByText("<b>HTML stays text</b>").waitFor();
      expect(await log.getByRole("link", { name: "chart (image on example.com)" }).getAttribute("rel")).toBe(
        "noopener noreferrer",
      );
      await expectAccessible(page);
      await takeScreenshot(page, `session-${width}-${colorScheme}`);
    }
  }
});

test("streams a message over split and lost connections without losing or doubling a character", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  const page = await browser.open(daemon, `/s/${session.id}`);
  await page.getByRole("heading", { name: "A session", level: 1 }).waitFor();
  daemon.faults.splitStreams(509);
  const turn = await session.startTurn("Count.");
  const message = await turn.beginMessage();
  const words = Array.from({ length: 600 }, (_, index) => `w${index}é `);
  for (let at = 0; at < words.length; at += 100) {
    await message.write(words.slice(at, at + 100));
    daemon.faults.closeStreams();
  }
  await message.write(["end."]);
  const block = page.getByRole("log").getByText("w0é");
  await page
    .getByRole("log")
    .getByText(/end\.$/)
    .waitFor();
  await expect.poll(async () => block.textContent()).toBe(message.text);
  await message.end();
  await turn.complete();
  await page.getByRole("log").getByRole("button", { name: "Fork here" }).waitFor();
  expect(await block.textContent()).toBe(message.text);
});

test("keeps what the reader looks at in its place while a message is written below it", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  for (let index = 0; index < 30; index += 1) {
    await session.exchange(`Question ${index}`, `Answer ${index}.\n\nWith a second paragraph.`);
  }
  const page = await browser.open(daemon, `/s/${session.id}`);
  const log = page.getByRole("log");
  await log.getByText("Answer 29.").waitFor();
  await log.hover();
  await page.mouse.wheel(0, -1500);
  await page.getByRole("button", { name: "Latest" }).waitFor();
  const anchor = await log.evaluateHandle((list) => {
    const { top } = list.getBoundingClientRect();
    return [...list.querySelectorAll(".virtual-row")].find(
      (row) => row.getBoundingClientRect().top > top + 50,
    );
  });
  const topOf = async (): Promise<number> =>
    anchor.evaluate((row) => Math.round((row as Element).getBoundingClientRect().top));
  const before = await topOf();
  const turn = await session.startTurn("More");
  await turn.say(...Array.from({ length: 50 }, (_, index) => `Paragraph ${index}.\n\n`));
  await page.getByRole("button", { name: /^\d+ new$/ }).waitFor();
  expect(await topOf()).toBe(before);
  await page.getByRole("button", { name: /^\d+ new$/ }).click();
  await log.getByText("Paragraph 49.").waitFor();
  await expect
    .poll(async () => log.evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight))
    .toBeLessThan(2);
});

test("loads older items when the reader scrolls up, and any turn from the outline", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  for (let index = 0; index < 130; index += 1)
    await session.exchange(`Question ${index}`, `Answer ${index}.`);
  const page = await browser.open(daemon, `/s/${session.id}`);
  const log = page.getByRole("log");
  await log.getByText("Answer 129.").waitFor();
  await page.getByRole("button", { name: "130 turns" }).click();
  await page.getByRole("button", { name: /^1 Question 0/ }).click();
  await log.getByText("Answer 0.").waitFor();
  // A deep link leads to one item.
  const [item] = await log.evaluate((list) =>
    [...list.querySelectorAll<HTMLElement>(".virtual-row")].map((row) => row.dataset["key"] ?? ""),
  );
  expect(item).toMatch(/^turn\//);
});

test("shows gaps, recovered items, warnings and failures as rows", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  const page = await browser.open(daemon, `/s/${session.id}`);
  await page.getByRole("heading", { name: "A session", level: 1 }).waitFor();
  const turn = await session.startTurn("Go");
  await session.append([
    { type: "gap", from: 3, to: 9, reason: "retention" },
    { type: "recovered", items: 4, reason: "codex was restarted" },
    { type: "warning", kind: "retrying", message: "The model endpoint failed. Attempt 2 of 5." },
  ]);
  await turn.fail("codex exited with 101");
  const log = page.getByRole("log");
  await log.getByText("Events 3 to 9 are missing.").waitFor();
  await log.getByText("4 items were read from the thread's history.").waitFor();
  await log.getByText("Attempt 2 of 5").waitFor();
  await log.getByText("codex exited with 101").waitFor();
  await expectAccessible(page);
});

test("opens the palette and the sheet of keys, and goes to pages by keys", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Find me");
  await daemon.createSession("Another");
  const page = await browser.open(daemon, "/sessions");
  await page
    .getByRole("navigation", { name: "Sessions" })
    .getByRole("link", { name: /Find me/ })
    .waitFor();
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("combobox", { name: "Search sessions and commands" });
  await palette.fill("find");
  await page.getByRole("option", { name: /Find me/ }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Find me", level: 1 }).waitFor();
  expect(page.url()).toContain(`/console/s/${session.id}`);
  await page.keyboard.press("Shift+?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  expect(page.url()).toMatch(/\/console\/inbox$/);
});
