import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { KEY_CATALOGUE, type KeyDefinition, type KeyId, type KeyScope } from "../src/keys/key-catalogue.ts";
import { fileChange } from "./requests.ts";
import { FakeDaemon, OFFERS, useBrowser } from "./rig/index.ts";
import { createNormalSession } from "./states.ts";

const browser = useBrowser();

/** Presses the keys of the shortcut, and checks what they have done. */
type Check = (page: Page, press: () => Promise<void>) => Promise<void>;
type Checks<Scope extends KeyScope> = { readonly [Id in KeyId<Scope>]: Check };

const opens =
  (role: "dialog" | "complementary", name: string): Check =>
  async (page, press) => {
    await press();
    await page.getByRole(role, { name }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole(role, { name }).waitFor({ state: "detached" });
  };

const leadsTo =
  (path: string): Check =>
  async (page, press) => {
    await press();
    await page.waitForURL(`**/console${path}`);
  };

/** The focus moves to an element that matches. */
const focuses =
  (selector: string, text?: RegExp): Check =>
  async (page, press) => {
    await press();
    await expect
      .poll(async () =>
        page.evaluate((wanted) => {
          const row = document.activeElement?.closest(wanted);
          return row?.textContent ?? (row ? "" : "none");
        }, selector),
      )
      .toMatch(text ?? /^(?!none$)/);
  };

const says =
  (text: string | RegExp): Check =>
  async (page, press) => {
    await press();
    await page.getByText(text).first().waitFor();
  };

const moves =
  (selector: string): Check =>
  async (page, press) => {
    const read = async (): Promise<string | null> => page.locator(selector).getAttribute("data-index");
    const before = await read();
    await press();
    await expect.poll(read).not.toBe(before);
  };

/** The state of a button changes. */
const switches =
  (name: string): Check =>
  async (page, press) => {
    const read = async (): Promise<string | null> =>
      page.getByRole("button", { name, exact: true }).getAttribute("aria-pressed");
    const before = await read();
    await press();
    await expect.poll(read).not.toBe(before);
  };

const leaveField = async (page: Page): Promise<void> =>
  page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());

const everywhere: Checks<"everywhere"> = {
  "app.palette": opens("dialog", "Search or command"),
  "app.keys": opens("dialog", "Keyboard shortcuts"),
  "app.goUsage": leadsTo("/usage"),
  "app.goInbox": leadsTo("/inbox"),
  "app.goSessions": leadsTo("/sessions"),
  "app.new": leadsTo("/new"),
  "app.search": async (page, press) => {
    await focuses("input[type=search]")(page, press);
    await leaveField(page);
  },
  "app.previousSession": leadsTo("/s/*"),
  "app.nextSession": async (page, press) => {
    const before = page.url();
    await press();
    await expect.poll(() => page.url()).not.toBe(before);
  },
  "app.newestApproval": focuses("[data-approval]", /npm run build/),
  "app.approval": focuses("[data-approval]", /npm test/),
};

const list: Checks<"list"> = {
  "list.next": focuses("li", /one|two|three/),
  "list.previous": focuses("li"),
  "list.down": focuses("li"),
  "list.up": focuses("li"),
  "list.last": focuses("li:last-child"),
  "list.first": focuses("li:first-child"),
  "list.pin": says("Pinned"),
  "list.rename": async (page, press) => {
    await focuses("li")(page, async () => page.locator(".listed-link").first().focus());
    await press();
    await page.getByRole("textbox", { name: /name/i }).waitFor();
    await page.keyboard.press("Escape");
  },
  "list.delete": async (page, press) => {
    await page.locator(".listed-link").first().focus();
    await press();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
  },
  "list.archive": async (page, press) => {
    await page.locator(".listed-link").first().focus();
    await says(/Archived/)(page, press);
  },
  "inbox.next": async (page, press) => {
    await page.goto("/console/inbox");
    await page.getByRole("article").first().waitFor();
    await focuses("[data-approval]", /npm test/)(page, press);
  },
  "inbox.previous": focuses("[data-approval]", /npm test/),
};

const panel = (name: string): Check => opens("complementary", name);

/** A terminal takes all keys, Escape too. */
const openTerminal: Check = async (page, press) => {
  await press();
  const terminal = page.getByRole("complementary", { name: "Terminal" });
  await terminal.waitFor();
  await page.getByRole("button", { name: "Close Terminal" }).click();
  await terminal.waitFor({ state: "detached" });
};

const transcript: Checks<"transcript"> = {
  "transcript.lastMessage": focuses(".virtual-row", /Yes, and run the tests/),
  "transcript.previousTurn": focuses(".virtual-row", /^Turn 2/),
  "transcript.nextTurn": async (page, press) => {
    await page.keyboard.press("Shift+K");
    await expect
      .poll(async () => page.evaluate(() => document.activeElement?.textContent))
      .toMatch(/^Turn 1/);
    await focuses(".virtual-row", /^Turn 2/)(page, press);
  },
  "transcript.previous": focuses(".virtual-row", /Fork here/),
  "transcript.next": focuses(".virtual-row", /^Turn 2/),
  "transcript.toggle": async (page, press) => {
    const thought = page.getByRole("button", { name: /Reading the test/ });
    await page.keyboard.press("Shift+K");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await expect
      .poll(async () => page.evaluate(() => document.activeElement?.textContent))
      .toMatch(/Reading/);
    await press();
    await expect.poll(async () => thought.getAttribute("aria-expanded")).toBe("true");
  },
  "transcript.copy": says("Copied"),
  "transcript.fork": says("The fork will be in the list of sessions."),
  "transcript.follow": async (page, press) => {
    await press();
    await page.getByRole("button", { name: /Latest|new/ }).waitFor({ state: "detached" });
  },
  "transcript.compose": async (page, press) => {
    await focuses("textarea")(page, press);
    await leaveField(page);
  },
  "panel.diff": panel("Diff"),
  "panel.plan": panel("Plan"),
  "panel.agents": panel("Agents"),
  "panel.files": panel("Files"),
  "panel.usage": panel("Usage"),
  "panel.events": panel("Events"),
  "panel.terminal": openTerminal,
  "app.goTerminal": openTerminal,
  "panel.close": async (page, press) => {
    await page.keyboard.press("v");
    await page.keyboard.press("d");
    await page.getByRole("complementary", { name: "Diff" }).waitFor();
    await press();
    await page.getByRole("complementary", { name: "Diff" }).waitFor({ state: "detached" });
  },
};

/** Focuses a card, and presses until its keys act: they don't for the first 400 ms. */
const answers =
  (kind: string, outcome: RegExp): Check =>
  async (page, press) => {
    const card = page.locator(`[data-approval][data-kind=${kind}]`).first();
    await card.focus();
    await expect
      .poll(async () => {
        if ((await page.getByText(outcome).count()) === 0) await press();
        return page.getByText(outcome).count();
      })
      .toBeGreaterThan(0);
  };

const approval: Checks<"approval"> = {
  "approval.diff": answers("fileChange", /Show the diff/),
  "approval.once": answers("command", /Allowed once by you/),
  "approval.session": answers("command", /for the session by you/i),
  "approval.always": async (page, press) => {
    await answers("command", /will be allowed without asking/)(page, press);
    await page.keyboard.press("Escape");
  },
  "approval.decline": answers("command", /Tell the agent what to do instead/),
};

const diff: Checks<"diff"> = {
  "diff.nextHunk": moves(".diff-cursor"),
  "diff.previousFile": moves(".diff-cursor"),
  "diff.nextFile": moves(".diff-cursor"),
  "diff.previousHunk": moves(".diff-cursor"),
  "diff.nextLine": moves(".diff-cursor"),
  "diff.previousLine": moves(".diff-cursor"),
  "diff.wrap": switches("Wrap"),
  "diff.split": switches("Split"),
  "diff.comment": async (page, press) => {
    await page.keyboard.press("j");
    await page.keyboard.press("ArrowDown");
    await press();
    await page.getByRole("textbox", { name: /comment/i }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("group", { name: "Changes" }).focus();
  },
  "diff.viewed": async (page, press) => {
    await press();
    await expect
      .poll(async () => page.getByRole("checkbox", { name: "Viewed", checked: true }).count())
      .toBe(1);
  },
};

/** Runs the checks of a scope in their order, on one page. */
async function checkAll(page: Page, scope: KeyScope, checks: Readonly<Record<string, Check>>): Promise<void> {
  const definitions: Readonly<Record<string, KeyDefinition>> = KEY_CATALOGUE[scope];
  expect(Object.keys(checks).toSorted()).toEqual(Object.keys(definitions).toSorted());
  for (const [id, check] of Object.entries(checks)) {
    const keys = (definitions[id]?.keys ?? "").replace("$mod", "Control").replace("1-9", "1");
    const press = async (): Promise<void> => {
      for (const key of keys.split(" ")) await page.keyboard.press(key);
    };
    await check(page, press).catch((error: unknown) => {
      throw new Error(`${id} (${keys}) failed: ${String(error)}`, { cause: error });
    });
  }
}

describe("every shortcut does what the sheet of keys says", { timeout: 240_000 }, () => {
  test("everywhere", async () => {
    await using daemon = await FakeDaemon.start();
    for (const command of ["npm test", "npm run build"]) {
      await (await daemon.createSession(command)).askForCommand(command);
    }
    const page = await browser.open(daemon, "/inbox");
    await page.getByRole("article").nth(1).waitFor();
    await checkAll(page, "everywhere", everywhere);
  });

  test("lists", async () => {
    await using daemon = await FakeDaemon.start();
    for (const name of ["one", "two", "three"]) await daemon.createSession(name);
    await (await daemon.createSession("asks")).askForCommand("npm test");
    const page = await browser.open(daemon, "/sessions");
    await page.locator(".listed-link").nth(3).waitFor();
    await page.locator(".listed-link").first().focus();
    await checkAll(page, "list", list);
  });

  test("transcript", async () => {
    await using daemon = await FakeDaemon.start();
    const session = await createNormalSession(daemon);
    const page = await browser.open(daemon, `/s/${session.id}`, {
      prepare: async (opened) => opened.context().grantPermissions(["clipboard-read", "clipboard-write"]),
    });
    // The card of an approval may be shown before the messages that a key goes to.
    await page.locator(".virtual-row", { hasText: "Yes, and run the tests" }).waitFor();
    await page.getByRole("article", { name: "Run a command" }).waitFor();
    await checkAll(page, "transcript", transcript);
  });

  test("approvals", async () => {
    await using daemon = await FakeDaemon.start();
    const session = await daemon.createSession("asks");
    await session.ask(fileChange);
    const always = {
      id: "acceptWithPrefix",
      label: "Always",
      accepts: true,
      scope: "always" as const,
      stores: "npm",
    };
    for (const command of ["npm test", "npm ci", "npm pack"]) {
      await session.askForCommand(command, { offers: [...OFFERS, always] as never });
    }
    const page = await browser.open(daemon, "/inbox");
    await page.getByRole("button", { name: "Hide the diff" }).waitFor();
    await checkAll(page, "approval", approval);
  });

  test("diff", async () => {
    await using daemon = await FakeDaemon.start();
    const session = await daemon.createSession("changes");
    const turn = await session.startTurn("Change them");
    const files = ["src/one.ts", "src/two.ts"].map(
      (path) =>
        `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,2 +1,2 @@\n-const value = 1;\n+const value = 2;\n keep\n@@ -9,1 +9,2 @@\n keep\n+const added = 3;\n`,
    );
    await session.append([{ type: "diff.updated", ...turn.ids, diff: files.join("") }]);
    const page = await browser.open(daemon, `/s/${session.id}?p=diff`);
    const changes = page.getByRole("group", { name: "Changes" });
    // Lines have the colours of their language.
    await changes.locator(".code-keyword").first().waitFor();
    await changes.focus();
    await checkAll(page, "diff", diff);
  });
});
