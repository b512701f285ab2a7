import { gate, say, type Script, waitFor } from "@codexkit/scripted-model";
import { SeededRandom } from "@codexkit/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { DaemonHome, LOST_CONNECTION, useBrowser } from "./rig/index.ts";

const browser = useBrowser();
const KILLS = 20;
/** More words than the model writes during the kills. */
const WORDS = 1_500;
const WORDS_PER_MESSAGE = 50;
const WORD_MS = 100;

test("20 kills of the daemon in mid-stream neither lose nor double anything on screen", async () => {
  const random = new SeededRandom(21);
  const gates = Array.from({ length: WORDS }, () => gate());
  const script: Script = () => [
    ...Array.from({ length: WORDS / WORDS_PER_MESSAGE }, (_, message) =>
      say(
        gates
          .slice(message * WORDS_PER_MESSAGE, (message + 1) * WORDS_PER_MESSAGE)
          .flatMap((each, word) => [waitFor(each), `w${message * WORDS_PER_MESSAGE + word} `]),
      ),
    ),
    say("All messages are here."),
  ];
  let written = 0;
  // The model writes all the time, also while no daemon is running.
  const writing = setInterval(() => {
    gates[written]?.open();
    written += 1;
  }, WORD_MS);
  using _writing = { [Symbol.dispose]: () => clearInterval(writing) };
  await using home = await DaemonHome.create(script);
  await using daemon = await home.spawn();
  const { session } = await daemon.client.createSession(
    { cwd: home.folders.workspace, name: "Long answer" },
    { wait: 20_000 },
  );
  await daemon.client.send(session.id, "Answer slowly");
  // High enough for all rows: those outside of the screen are not in the document.
  const page = await browser.open(daemon, `/s/${session.id}`, {
    viewport: { width: 1280, height: 12_000 },
    expectedProblems: [LOST_CONNECTION],
  });
  // Another reader looks at the beginning.
  const reader = await browser.open(daemon, `/s/${session.id}`, {
    viewport: { width: 800, height: 400 },
    expectedProblems: [LOST_CONNECTION],
  });
  const log = page.getByRole("log");
  const wordsOnScreen = async (): Promise<number[]> =>
    Array.from((await log.innerText()).matchAll(/\bw(\d+)\b/g), ([, number]) => Number(number));
  const expectIncreasing = (words: readonly number[]): void => {
    expect(words.filter((word, index) => index > 0 && word <= (words[index - 1] ?? 0))).toEqual([]);
  };
  await expect.poll(async () => (await wordsOnScreen()).length, { timeout: 60_000 }).toBeGreaterThan(150);
  const question = reader.getByRole("log").getByText("Answer slowly");
  await reader.getByRole("log").hover();
  await reader.mouse.wheel(0, -2_000);
  await reader.getByRole("button", { name: /Latest|new/ }).waitFor();
  const position = await question.boundingBox();

  let seen = 0;
  for (let round = 0; round < KILLS; round += 1) {
    await sleep(random.between(0, 700));
    const words = await wordsOnScreen();
    expectIncreasing(words);
    // Words that were on screen stay there.
    expect(words.length).toBeGreaterThanOrEqual(seen);
    seen = words.length;
    await daemon.kill();
    await daemon.start();
  }
  expect(written).toBeLessThan(WORDS);
  for (const each of gates) each.open();
  await log.getByText("All messages are here.").waitFor({ timeout: 120_000 });
  const expected = Array.from({ length: WORDS }, (_, index) => index);
  await expect.poll(wordsOnScreen, { timeout: 30_000 }).toEqual(expected);
  expect(position).not.toBeNull();
  // The reader may connect again later than the other page. Until then, a banner takes up space.
  await reader.getByRole("banner").getByText("Live", { exact: true }).waitFor({ timeout: 60_000 });
  expect(await question.boundingBox()).toEqual(position);

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
  expect(await wordsOnScreen()).toEqual(expected);
  await daemon.client.request("DELETE /sessions/{sessionId}", { params, query: { wait: 20_000 } });
}, 600_000);
