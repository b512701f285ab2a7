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

function fileDiff(path: string, before: string, after: string): string {
  return `diff --git a/${path} b/${path}
--- a/${path}
+++ b/${path}
@@ -1,3 +1,3 @@
 // ${path}
-const value = ${before};
+const value = ${after};
 export { value };
`;
}

/** A turn that changed files. */
async function changeFiles(session: FakeSession, title: string, diff: string): Promise<void> {
  const turn = await session.startTurn(title);
  await session.append([{ type: "diff.updated", ...turn.ids, diff }]);
  await turn.complete("Done.");
}

test("shows the newest turn, any other turn, and all of them", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("diffs");
  await changeFiles(session, "First change", fileDiff("src/one.ts", "1", "2"));
  await changeFiles(
    session,
    "Second change",
    fileDiff("src/two.ts", "3", "4") + fileDiff("src/three.ts", "5", "6"),
  );
  const page = await browser.open(daemon, `/s/${session.id}?p=diff`);
  const changes = page.getByRole("group", { name: "Changes" });
  await changes.getByText("src/three.ts", { exact: true }).waitFor();
  expect(await changes.getByText("src/one.ts", { exact: true }).count()).toBe(0);
  await takeScreenshot(page, "diff-newest");
  const scope = page.getByLabel("Changes of");
  await scope.selectOption({ label: "First change (+1 −1)" });
  await changes.getByText("src/one.ts", { exact: true }).waitFor();
  await expect.poll(async () => changes.getByText("src/three.ts", { exact: true }).count()).toBe(0);
  await scope.selectOption("all");
  await changes.getByRole("button", { name: "src/three.ts · Second change" }).waitFor();
  await changes.getByRole("button", { name: "src/one.ts · First change" }).waitFor();
  await page.getByText("3 files").waitFor();
  await page.getByRole("button", { name: "Split" }).click();
  await takeScreenshot(page, "diff-split");
});

test("marks changed words, and closes files that were viewed", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("words");
  await changeFiles(session, "Change", fileDiff("src/one.ts", "first", "second"));
  const page = await browser.open(daemon, `/s/${session.id}?p=diff`);
  const changes = page.getByRole("group", { name: "Changes" });
  await expect.poll(async () => changes.locator("mark").allInnerTexts()).toEqual(["first", "second"]);
  await changes.getByLabel("Viewed").check();
  await expect.poll(async () => changes.locator("mark").count()).toBe(0);
  await page.getByText("1 viewed").waitFor();
});

test("sends the comments on lines as one message", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("comments");
  await changeFiles(session, "Change", fileDiff("src/one.ts", "1", "2") + fileDiff("src/two.ts", "3", "4"));
  const page = await browser.open(daemon, `/s/${session.id}?p=diff`);
  const changes = page.getByRole("group", { name: "Changes" });
  for (const [code, comment] of [
    ["const value = 2;", "Why 2?"],
    ["const value = 3;", "Keep 3."],
  ] as const) {
    const row = changes.getByRole("row").filter({ hasText: code });
    await row.hover();
    await row.getByRole("button", { name: "Comment on line 2", exact: true }).click();
    await page.getByLabel(/^Comment on src/).fill(comment);
    await page.getByRole("button", { name: "Add the comment" }).click();
  }
  await page.getByText("2 comments not sent yet").waitFor();
  await takeScreenshot(page, "diff-comments");
  await page.getByRole("button", { name: "Send to the agent" }).click();
  await expect.poll(async () => page.getByText(/not sent yet/).count()).toBe(0);
  const rows = await daemon.database.store.db.selectFrom("command").select("body").execute();
  const bodies = rows.map(({ body }) => JSON.parse(body) as { input?: string });
  expect(bodies.map(({ input }) => input)).toContainEqual(`2 comments on your changes:

src/one.ts:2
> const value = 2;
Why 2?

src/two.ts:2 (removed line)
> const value = 3;
Keep 3.`);
});

test("opens a file of 100,000 lines with few elements, and reaches its end", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("large");
  const lines = Array.from({ length: 100_000 }, (_, index) => `+line ${index + 1} of a generated file\n`);
  await changeFiles(
    session,
    "Generate",
    `diff --git a/big.txt b/big.txt\nnew file mode 100644\n--- /dev/null\n+++ b/big.txt\n@@ -0,0 +1,${lines.length} @@\n${lines.join("")}`,
  );
  const page = await browser.open(daemon, `/s/${session.id}?p=diff`);
  const changes = page.getByRole("group", { name: "Changes" });
  await changes.getByText(/line 1 of a generated file$/).waitFor();
  expect(await changes.locator("*").count()).toBeLessThan(1_500);
  await changes.evaluate((element) => {
    element.scrollTop = element.scrollHeight;
  });
  await changes.getByText(/line 100000 of a generated file$/).waitFor();
  expect(await changes.locator("*").count()).toBeLessThan(1_500);
});

test("has no accessibility problem on a phone and in the dark", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("phone");
  await changeFiles(session, "Change", fileDiff("src/a/rather/long/path/of/a/file.ts", "1", "2"));
  for (const [viewport, colorScheme] of [
    [PHONE, "light"],
    [DESKTOP, "dark"],
  ] as const) {
    const page = await browser.open(daemon, `/s/${session.id}?p=diff`, { viewport, colorScheme });
    await page.getByRole("group", { name: "Changes" }).getByText("const value = 2;").waitFor();
    await expectAccessible(page);
    await takeScreenshot(page, `diff-${viewport.width}-${colorScheme}`);
  }
});

test("is used by the keyboard alone", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("keys");
  await changeFiles(session, "Change", fileDiff("src/one.ts", "1", "2") + fileDiff("src/two.ts", "3", "4"));
  const page = await browser.open(daemon, `/s/${session.id}?p=diff`);
  const changes = page.getByRole("group", { name: "Changes" });
  const cursor = page.locator(".diff-cursor");
  await changes.getByText("const value = 4;").waitFor();
  await changes.focus();
  await page.keyboard.press("l");
  await expect.poll(async () => cursor.innerText()).toContain("src/two.ts");
  await page.keyboard.press("j");
  await expect.poll(async () => cursor.innerText()).toContain("@@ -1,3 +1,3 @@");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect.poll(async () => cursor.innerText()).toContain("const value = 3;");
  await page.keyboard.press("c");
  await page.keyboard.type("Keep 3, j and k.");
  await page.keyboard.press("Control+Enter");
  await page.getByText("1 comment not sent yet").waitFor();
  expect(await changes.evaluate((element) => document.activeElement === element)).toBe(true);
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  await expect.poll(async () => cursor.innerText()).toContain("@@");
  await page.keyboard.press("h");
  await page.keyboard.press("m");
  await page.getByText("1 viewed").waitFor();
  await page.keyboard.press("w");
  await expect
    .poll(async () => page.getByRole("button", { name: "Wrap" }).getAttribute("aria-pressed"))
    .toBe("true");
  await page.keyboard.press("s");
  await expect
    .poll(async () => page.getByRole("button", { name: "Split" }).getAttribute("aria-pressed"))
    .toBe("true");
});
