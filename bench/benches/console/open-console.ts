import { launchChromium } from "../../../packages/console/test/rig/chromium.ts";
import { FakeDaemon } from "../../../packages/console/test/rig/fake-daemon.ts";
import type { FakeSession } from "../../../packages/console/test/rig/fake-session.ts";

type Browser = Awaited<ReturnType<typeof launchChromium>>;
export type Page = Awaited<ReturnType<Browser["newPage"]>>;

/** The built console in Chromium, connected to a daemon without Codex. */
export interface ConsoleBench extends AsyncDisposable {
  readonly daemon: FakeDaemon;
  /** A session with `EVENTS` events. */
  readonly longSession: FakeSession;
  /** Opens a path in a new, logged-in browser context. `prepare` is called before the first request. */
  readonly open: (path: string, prepare?: (page: Page) => Promise<void>) => Promise<Page>;
  /** Opens a page in such a context without loading anything. Closing the page closes its context. */
  readonly openBlank: () => Promise<Page>;
  /** Processes of pages. */
  readonly rendererIds: () => Promise<readonly number[]>;
}

const EVENTS = 100_000;
/** Number of deltas in one message of the long session. With its other events, a turn has eight more. */
const DELTAS_PER_TURN = 192;
export const LAST_ANSWER = "This is the last answer of the long session.";

export async function openConsole(): Promise<ConsoleBench> {
  await using made = new AsyncDisposableStack();
  const daemon = made.use(await FakeDaemon.start());
  const longSession = await daemon.createSession("A long session");
  await fillSession(longSession);
  const browser = await launchChromium();
  made.defer(async () => browser.close());
  const owned = made.move();
  const openBlank = async (): Promise<Page> => {
    const context = await browser.newContext({
      baseURL: daemon.url,
      viewport: { width: 1280, height: 800 },
    });
    await context.request.post("/login", { data: { token: daemon.token } });
    const page = await context.newPage();
    // Fails if the browser is being closed as well.
    page.once("close", () => void context.close().catch(() => undefined));
    return page;
  };
  return {
    daemon,
    longSession,
    rendererIds: async () => {
      const devTools = await browser.newBrowserCDPSession();
      const { processInfo } = await devTools.send("SystemInfo.getProcessInfo");
      await devTools.detach();
      return processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
    },
    openBlank,
    open: async (path, prepare) => {
      const page = await openBlank();
      await prepare?.(page);
      await page.goto(`/console${path}`);
      return page;
    },
    [Symbol.asyncDispose]: async () => owned.disposeAsync(),
  };
}

/** Appends `EVENTS` events. */
export async function fillSession(session: FakeSession): Promise<void> {
  const turns = EVENTS / (DELTAS_PER_TURN + 8);
  for (let index = 0; index < turns; index += 1) await addTurn(session, index);
  await session.exchange("Say the last thing", LAST_ANSWER);
}

async function addTurn(session: FakeSession, index: number): Promise<void> {
  const turn = await session.startTurn(`Question ${index}`);
  await turn.run(`npm test -- part-${index}`, "ok\n".repeat(20));
  await turn.say(...Array.from({ length: DELTAS_PER_TURN }, (_, at) => `word${at} `));
  await turn.complete();
}
