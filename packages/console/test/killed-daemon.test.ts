import { gate, say, type Script, waitFor } from "@codexkit/scripted-model";
import { expect, test } from "vitest";
import { DaemonHome, useBrowser } from "./rig/index.ts";

const browser = useBrowser();
const KILLS = 20;

test("20 kills of the daemon in mid-stream neither lose nor double anything on screen", async () => {
  const gates = Array.from({ length: KILLS }, () => gate());
  // The daemon is killed in the middle of each message.
  const script: Script = () => [
    ...gates.map((each, index) => say([`begin-${index} `, waitFor(each), `end-${index}`])),
    say("All messages are here."),
  ];
  await using home = await DaemonHome.create(script);
  await using daemon = await home.spawn();
  const { session } = await daemon.client.createSession(
    { cwd: home.folders.workspace, name: "Long answer" },
    { wait: 20_000 },
  );
  await daemon.client.send(session.id, "Answer slowly");
  // High enough for all rows: those outside of the screen are not in the document.
  const page = await browser.open(daemon, `/s/${session.id}`, { viewport: { width: 1280, height: 6000 } });
  const log = page.getByRole("log");
  const partsOnScreen = async (): Promise<string[]> =>
    (await log.innerText()).match(/(?:begin|end)-\d+/g) ?? [];
  const expected: string[] = [];

  for (const [index, each] of gates.entries()) {
    expected.push(`begin-${index}`);
    await expect.poll(partsOnScreen, { timeout: 60_000 }).toEqual(expected);
    await daemon.kill();
    // In the last round, Codex ends its turn without a daemon.
    if (index === KILLS - 1) each.open();
    await daemon.start();
    // Carried out when the daemon follows the thread again. What Codex says earlier is shown when the message is complete.
    await daemon.client.request("PUT /sessions/{sessionId}/name", {
      params: { sessionId: session.id },
      body: { name: `Round ${index}` },
      query: { wait: 60_000 },
    });
    each.open();
    expected.push(`end-${index}`);
  }
  await log.getByText("All messages are here.").waitFor({ timeout: 60_000 });
  await expect.poll(partsOnScreen).toEqual(expected);

  // What the page shows is what the journal has, without a hole.
  const params = { sessionId: session.id };
  const { lastSeq } = await daemon.client.request("GET /sessions/{sessionId}", { params });
  const region = page.locator("[data-seq]").first();
  await expect
    .poll(async () => Number(await region.getAttribute("data-seq")))
    .toBeGreaterThanOrEqual(lastSeq);
  expect(await log.getByText(/are missing|\bgap\b/i).count()).toBe(0);
  await page.reload();
  await log.getByText("All messages are here.").waitFor();
  expect(await partsOnScreen()).toEqual(expected);
  await daemon.client.request("DELETE /sessions/{sessionId}", { params, query: { wait: 20_000 } });
}, 600_000);
