import { fillSession, LAST_ANSWER, type ConsoleBench, type Page } from "./open-console.ts";
import { measureHeap } from "./page-probe.ts";

/** Number of turns of a session with 200 items. */
const TURNS = 100;

/** Opens a session of 100,000 events, and returns to it from another screen. */
export async function openLongSession({ longSession, open }: ConsoleBench) {
  await using page = await open("/sessions");
  const link = `a[href$="/s/${longSession.id}"]`;
  await page.locator(link).first().waitFor();
  const first = await measureClick(page, link);
  await page.goBack();
  await page.locator(".listed-row").first().waitFor();
  return { open: first, "open again": await measureClick(page, link) };
}

/** Measured in the page, because the driver's own round trips take longer than the response. */
async function measureClick(page: Page, link: string): Promise<number> {
  return (await page.evaluate(`new Promise((resolve) => {
    const start = performance.now();
    const look = () => {
      if (document.querySelector('[role="log"]')?.textContent.includes(${JSON.stringify(LAST_ANSWER)})) {
        resolve(performance.now() - start);
      } else requestAnimationFrame(look);
    };
    document.querySelector('${link}').click();
    look();
  })`)) as number;
}

/** The page receives every event while it is open. */
export async function measureLongSession({ daemon, open }: ConsoleBench): Promise<number> {
  const session = await daemon.createSession("A session that grows");
  await using page = await open(`/s/${session.id}`);
  await page.getByRole("log").waitFor();
  await fillSession(session);
  await page.getByRole("log").getByText(LAST_ANSWER).first().waitFor();
  const bytes = await measureHeap(page);
  return bytes / 1_000_000;
}

/**
 * Time from the navigation to the first frame with a row of the session, and to the first one with a usable
 * composer.
 */
export async function loadCold({ daemon, openBlank }: ConsoleBench, slowdown: number) {
  const session = await daemon.createSession("A session of 200 items");
  for (let turn = 0; turn < TURNS; turn += 1)
    await session.exchange(`Question ${turn}`, `Answer ${turn}.\n\n- one\n- two\n\nAnd \`code\`.`);
  await using page = await openBlank();
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await page.addInitScript(`(() => {
    globalThis.firstTimes = {};
    const look = () => {
      const row = document.querySelector(".virtual-row");
      const composer = document.querySelector("textarea:enabled");
      // Wait for the next frame, by which the found element has been painted.
      requestAnimationFrame(() => {
        if (row) firstTimes.row ??= performance.now();
        if (composer) firstTimes.composer ??= performance.now();
        if (!firstTimes.row || !firstTimes.composer) look();
      });
    };
    look();
  })()`);
  await page.goto(`/console/s/${session.id}`);
  await page
    .getByRole("log")
    .getByText(`Answer ${TURNS - 1}.`)
    .first()
    .waitFor();
  const times = (await page.evaluate(`new Promise((resolve) => {
    const look = () => {
      if (firstTimes.row && firstTimes.composer) resolve(firstTimes);
      else setTimeout(look, 20);
    };
    look();
  })`)) as { readonly row: number; readonly composer: number };
  return { "first row": times.row, composer: times.composer };
}
