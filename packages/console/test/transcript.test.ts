import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  DESKTOP,
  expectAccessible,
  FakeDaemon,
  type FakeSession,
  LOST_CONNECTION,
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
  const page = await browser.open(daemon, `/s/${session.id}`, { expectedProblems: [LOST_CONNECTION] });
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

test("a field in a row keeps the focus while a message is written below it", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  const turn = await session.startTurn("Go");
  const id = await session.askForCommand("npm test");
  const page = await browser.open(daemon, `/s/${session.id}`);
  const card = page.locator(`#approval-${id}`);
  await card.getByRole("button", { name: "Decline…" }).click();
  const reason = card.getByLabel("Tell the agent what to do instead");
  await reason.pressSequentially("just");
  const next = await session.startTurn("Something else");
  await next.say(...Array.from({ length: 100 }, (_, index) => `Paragraph ${index}.\n\n`));
  await page.getByRole("button", { name: /^\d+ new$/ }).waitFor();
  await turn.complete();
  await page.keyboard.type(" a");
  expect(await reason.inputValue()).toBe("just a");
});

test("the link to the content focuses it, and an unknown hash loads nothing forever", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  for (let index = 0; index < 120; index += 1) await session.exchange(`Question ${index}`, "Answer.");
  const page = await browser.open(daemon, `/s/${session.id}`);
  await page.getByRole("log").getByText("Question 119").waitFor();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.getByRole("link", { name: "Skip to the content" }).press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
  expect(page.url()).not.toContain("#");
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  expect(requests.filter((url) => url.includes("/items"))).toEqual([]);
});

test("older items that can't be loaded are reported, and loaded on request", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  for (let index = 0; index < 120; index += 1)
    await session.exchange(`Question ${index}`, `Answer ${index}.`);
  const page = await browser.open(daemon, `/s/${session.id}`, {
    expectedProblems: [/503 .*\/items/],
  });
  const log = page.getByRole("log");
  await log.getByText("Answer 119.").waitFor();
  const succeed = daemon.faults.override(`GET /sessions/${session.id}/items`, { status: 503 });
  await page.getByRole("button", { name: "120 turns" }).click();
  await page.getByRole("button", { name: /^1 Question 0/ }).click();
  await page.getByText("Older rows could not be loaded.").waitFor();
  succeed();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Older rows could not be loaded.").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "120 turns" }).click();
  await page.getByRole("button", { name: /^1 Question 0/ }).click();
  await log.getByText("Answer 0.").waitFor();
});

test("a gap is filled from the history, and reverted turns stay away after a reload", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  for (let index = 0; index < 60; index += 1) await session.exchange(`Question ${index}`, `Answer ${index}.`);
  const gapTo = await daemon.lastSeq(session);
  for (let index = 60; index < 200; index += 1)
    await session.exchange(`Question ${index}`, `Answer ${index}.`);
  await session.append([{ type: "gap", from: gapTo - 20, to: gapTo, reason: "store_rewound" }]);
  const page = await browser.open(daemon, `/s/${session.id}`);
  const log = page.getByRole("log");
  await log.getByText("Answer 199.").waitFor();
  const requests: URL[] = [];
  page.on("request", (request) => requests.push(new URL(request.url())));
  await log.getByRole("button", { name: "Load from the history" }).click();
  await log.getByText("that the history has are loaded").waitFor();
  const loaded = requests.filter(({ pathname }) => pathname.endsWith("/items"));
  expect(loaded.map(({ searchParams }) => searchParams.get("before"))).toEqual([String(gapTo + 1)]);
  // The turn began before the events that a page reads again.
  const turn = await session.startTurn("A long turn");
  for (let index = 0; index < 60; index += 1) await turn.run(`step ${index}`, "done\n");
  const message = await turn.beginMessage();
  await message.write(Array.from({ length: 150 }, (_, index) => `w${index} `));
  await message.end();
  await turn.complete();
  await log.getByText("w149").waitFor();
  await session.append([{ type: "session.updated", changes: { revertedBefore: turn.id } }]);
  await log.getByText("Turns were removed from the history.").waitFor();
  expect(await log.getByText("w149").count()).toBe(0);
  await page.reload();
  await log.getByText("Turns were removed from the history.").waitFor();
  expect(await log.getByText(/w149|step 59/).count()).toBe(0);
  await log.getByText("Answer 199.").waitFor();
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
  const message = await turn.beginMessage();
  await session.append([
    { type: "item.completed", ...turn.ids, item: { ...message.item, text: "From before." }, recovered: true },
  ]);
  await turn.fail("codex exited with 101");
  const log = page.getByRole("log");
  await log.getByText("recovered from the thread's history").waitFor();
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

test("shows images of tools, and runs nothing that an image contains", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  await writeFile(join(daemon.api.root, "chart.png"), Buffer.from(png, "base64"));
  const turn = await session.startTurn("Draw");
  await turn.add({ type: "imageView", path: join(daemon.api.root, "chart.png") });
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const content = [
    { type: "image", data: png, mimeType: "image/png" },
    { type: "image", data: svg.toString("base64"), mimeType: "image/svg+xml" },
  ];
  await turn.add({
    type: "mcpToolCall",
    server: "shop",
    tool: "draw",
    status: "completed",
    arguments: {},
    result: { content, structuredContent: null },
    error: null,
    durationMs: 5,
  });
  const page = await browser.open(daemon, `/s/${session.id}`);
  for (const name of ["chart.png", "Image of draw"]) {
    const image = page.getByRole("log").getByRole("img", { name });
    await expect
      .poll(async () => image.evaluate((element) => (element as HTMLImageElement).naturalWidth))
      .toBe(1);
  }
  expect(await page.getByRole("log").getByRole("img").count()).toBe(2);
});

test("shows messages that are too complex for Markdown as text, and the rest as usual", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession();
  const turn = await session.startTurn("Go on.");
  for (const text of [
    `${">".repeat(2_000)} deep`,
    "> - ".repeat(3_000),
    "1. ".repeat(3_000),
    "*a_".repeat(20_000),
  ])
    await turn.say(text);
  await turn.say("The **end**.");
  await turn.complete();
  const page = await browser.open(daemon, `/s/${session.id}`);
  await page.getByRole("log").locator("strong").getByText("end").waitFor();
  expect(await page.getByText("This part of the page has failed").count()).toBe(0);
  await page.reload();
  await page.getByRole("log").locator("strong").getByText("end").waitFor();
});
