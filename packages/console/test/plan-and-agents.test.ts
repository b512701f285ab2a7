import { expect, test } from "vitest";
import { expectAccessible, FakeDaemon, takeScreenshot, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

test("the plan panel shows the steps, and sets a goal", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("plan");
  const turn = await session.startTurn("Fix it");
  await session.append([
    {
      type: "plan.updated",
      ...turn.ids,
      explanation: "In three steps.",
      plan: [
        { step: "Read the parser", status: "completed" },
        { step: "Write a test", status: "inProgress" },
        { step: "Mend it", status: "pending" },
      ],
    },
  ]);
  const page = await browser.open(daemon, `/s/${session.id}?p=plan`);
  const panel = page.getByRole("complementary").last();
  await panel.getByText("1 of 3").waitFor();
  expect(await panel.locator("[aria-current=step]").innerText()).toContain("Write a test");
  await page.getByRole("button", { name: /Plan 1\/3/ }).waitFor();
  await panel.getByRole("button", { name: "Set a goal" }).click();
  await panel.getByLabel("Objective").fill("All tests pass");
  await takeScreenshot(page, "plan");
  await expectAccessible(page);
});

test("the agents panel shows who waits, and leads to the card", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("agents");
  const turn = await session.startTurn("Review it");
  await turn.add({
    type: "subAgentActivity",
    kind: "started",
    agentThreadId: "thread-reviewer",
    agentPath: "/root/reviewer",
    model: "gpt-5",
    reasoningEffort: null,
  });
  const id = await session.askForCommand("npm run lint", { threadId: "thread-reviewer" });
  const page = await browser.open(daemon, `/s/${session.id}?p=agents`);
  const panel = page.getByRole("complementary").last();
  await panel.getByText("reviewer").waitFor();
  await panel.getByText("waits for you").waitFor();
  const link = panel.getByRole("link", { name: /npm run lint/ });
  expect(await link.getAttribute("href")).toContain(`#approval%2F${id}`);
  await link.click();
  const card = page.locator(".is-target").getByRole("article", { name: "Run a command" });
  await card.getByText("asked by reviewer").waitFor();
  await takeScreenshot(page, "agents");
  await expectAccessible(page);
});
