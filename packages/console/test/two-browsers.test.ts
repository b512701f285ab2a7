import { run, say, type Script } from "@codexkit/scripted-model";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pressButton, startRealDaemon, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

test("two browsers answer one approval: the first wins, and the other shows who did", async () => {
  const script: Script = ({ outputs }) =>
    outputs.length === 0 ? run("touch made", { callId: "call", escalate: "It writes." }) : say("All done.");
  await using daemon = await startRealDaemon(script);
  const { session } = await daemon.client.createSession(
    { cwd: daemon.workspace, name: "Make a file", permissionMode: "read-only" },
    { wait: 20_000 },
  );
  await daemon.client.send(session.id, "make it");
  const laptop = await browser.open(daemon, `/s/${session.id}`, { device: "laptop" });
  const phone = await browser.open(daemon, "/inbox", { device: "phone" });
  const card = { name: "Run a command" };
  await laptop.getByRole("article", card).first().waitFor();
  const waiting = phone.getByRole("article", card).first();
  await waiting.waitFor();
  expect(existsSync(join(daemon.workspace, "made"))).toBe(false);

  await pressButton(waiting.getByRole("button", { name: "Allow once" }));
  await laptop
    .getByText(/allowed once by .*\(phone\)/i)
    .first()
    .waitFor();
  await laptop.getByText("All done.").first().waitFor();
  expect(existsSync(join(daemon.workspace, "made"))).toBe(true);
  expect(await laptop.getByRole("button", { name: "Allow once" }).count()).toBe(0);
});

test("the loser of a race is told who won", async () => {
  const script: Script = ({ outputs }) =>
    outputs.length === 0 ? run("touch made", { callId: "call", escalate: "It writes." }) : say("Over.");
  await using daemon = await startRealDaemon(script);
  const { session } = await daemon.client.createSession(
    { cwd: daemon.workspace, name: "Make a file", permissionMode: "read-only" },
    { wait: 20_000 },
  );
  await daemon.client.send(session.id, "make it");
  const page = await browser.open(daemon, "/inbox", {
    device: "laptop",
    expectedProblems: [/409 .*\/answer/],
  });
  const card = page.getByRole("article", { name: "Run a command" }).first();
  await card.waitFor();
  // The stream is held up, so that the page does not know of the other answer when it sends its own.
  const [approval] = (await daemon.client.request("GET /inbox", { query: { state: "open" } })).data;
  let isHeld = true;
  await page.route("**/inbox/*/answer", async (route) => {
    if (isHeld) {
      isHeld = false;
      await daemon.client.answer(approval?.id ?? "", { type: "decision", offer: "decline" });
    }
    await route.continue();
  });
  await pressButton(card.getByRole("button", { name: "Allow once" }));
  await page
    .getByText(/declined by first/i)
    .first()
    .waitFor();
  expect(existsSync(join(daemon.workspace, "made"))).toBe(false);
});
