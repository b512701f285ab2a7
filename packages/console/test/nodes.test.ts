import type { Node } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import {
  DESKTOP,
  expectAccessible,
  expectAriaSnapshot,
  FakeDaemon,
  PHONE,
  takeScreenshot,
  useBrowser,
} from "./rig/index.ts";

const browser = useBrowser();

function node(id: string, name: string, more: Partial<Node>): Node {
  return {
    id,
    name,
    url: `http://${name}.example:4100`,
    state: "up",
    labels: [],
    capacity: 50,
    sessions: 0,
    pinnedSessions: 0,
    runningTurns: 0,
    leaseUntil: Date.now() + 60_000,
    version: "0.1.0",
    codexVersion: "0.166.0",
    startedAt: Date.now() - 3_600_000,
    isCurrent: false,
    ...more,
  };
}

/** Three nodes, one of which is lost with a session. */
async function startFleet(): Promise<FakeDaemon> {
  const daemon = await FakeDaemon.start();
  const nodes = [
    node("boot-a", "alpha", { isCurrent: true, sessions: 3, runningTurns: 1, labels: ["gpu", "eu"] }),
    node("boot-b", "beta", { sessions: 12, runningTurns: 4 }),
    node("boot-c", "gamma", { state: "lost", sessions: 1, leaseUntil: Date.now() - 90_000, url: null }),
  ];
  daemon.faults.override("GET /nodes", () => ({ json: { data: nodes } }));
  const session = await daemon.createSession("Fix the parser");
  await session.exchange("Why does it fail?", "The lexer drops the last token.");
  const problem = {
    type: "node_lost" as const,
    title: "Node lost",
    status: 503,
    detail: "Its folder is on the node gamma, whose lease has ended.",
  };
  await session.append([{ type: "session.updated", changes: { problem } }], { phase: "stranded", problem });
  return daemon;
}

test("lists nodes, says why sessions are stranded, and is accessible", async () => {
  await using daemon = await startFleet();
  const page = await browser.open(daemon, "/inbox", { reducedMotion: "reduce" });
  await page.getByRole("banner").getByRole("link", { name: "Nodes" }).click();
  await page.getByRole("heading", { name: "alpha up answers this page" }).waitFor();
  await page.getByText("Its folder is on the node gamma").waitFor();
  for (const [width, viewport] of Object.entries({ wide: DESKTOP, phone: PHONE })) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await takeScreenshot(page, `nodes-${width}-${colorScheme}`);
      await expectAccessible(page);
    }
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  await expectAriaSnapshot(page.getByRole("main"), "nodes", [[/\b\d+ ?[smh]\b(?: \d+ ?[sm]\b)?/g, "TIME"]]);
  await page.getByRole("main").getByRole("link", { name: "Fix the parser" }).click();
  await page.getByText("on here", { exact: true }).waitFor();
});

test("drains and removes nodes after a confirmation", async () => {
  await using daemon = await startFleet();
  const requests: string[] = [];
  for (const operation of ["POST /nodes/boot-b/drain", "DELETE /nodes/boot-c"]) {
    daemon.faults.override(operation, ({ method, url }) => {
      requests.push(`${method} ${url}`);
      return { json: node("boot-b", "beta", { state: "draining" }) };
    });
  }
  const page = await browser.open(daemon, "/nodes");
  await page.getByRole("button", { name: "Drain beta" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Its 4 running turns may be interrupted.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(requests).toEqual([]);
  await page.getByRole("button", { name: "Drain beta" }).click();
  await dialog.getByRole("button", { name: "Drain" }).click();
  await page.getByText("beta is draining").waitFor();
  await page.getByRole("button", { name: "Remove gamma" }).click();
  await dialog.getByLabel(/Other nodes have the same folders/).check();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Remove" }).click();
  await expect.poll(() => requests).toEqual(["POST /nodes/boot-b/drain", "DELETE /nodes/boot-c?rehome=true"]);
});

test("shows what the daemon refuses, and no actions without the scope admin", async () => {
  await using daemon = await startFleet();
  const page = await browser.open(daemon, "/nodes", { expectedProblems: [/\/nodes\/boot-b\/drain/] });
  // The store of this daemon has no such node.
  await page.getByRole("button", { name: "Drain beta" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
  await page.getByRole("alert").waitFor();
  const token = await daemon.api.createToken(["read"]);
  const other = await browser.open(daemon, "/nodes", { token });
  await other.getByRole("heading", { name: /^gamma/ }).waitFor();
  expect(await other.getByRole("button", { name: /Drain|Remove/ }).count()).toBe(0);
});

test("a daemon that is alone has no link to its nodes", async () => {
  await using daemon = await FakeDaemon.start();
  const page = await browser.open(daemon, "/nodes");
  await page.getByText("answers this page").waitFor();
  expect(await page.getByRole("link", { name: "Nodes" }).count()).toBe(0);
});
