import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { launchChromium } from "./chromium.ts";
import { collectProblems } from "./page-guards.ts";
import type { PageServer } from "./page-server.ts";

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 360, height: 740 };

export interface OpenOptions extends Pick<
  BrowserContextOptions,
  "viewport" | "colorScheme" | "reducedMotion" | "forcedColors" | "hasTouch" | "deviceScaleFactor"
> {
  /** Whether the browser logs in before it opens the page. Default: true. */
  readonly isLoggedIn?: boolean;
  /** A token to log in with instead of that of the server. */
  readonly token?: string | undefined;
  /** Name of the device of the login. */
  readonly device?: string;
  /** Called before the first request, for routes and clocks. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** Problems that this test expects. */
  readonly expectedProblems?: readonly RegExp[];
}

export interface TestBrowser {
  /**
   * Opens a path of the console, such as `/inbox`, in a context of its own. The context ends with the server or the test, which
   * fails if the page had problems (see `collectProblems`).
   */
  open(server: PageServer, path: string, options?: OpenOptions): Promise<Page>;
  readonly browser: Browser;
}

/** One browser for the tests of a file. */
export function useBrowser(flags: readonly string[] = []): TestBrowser {
  let browser: Browser | undefined;
  let opened: { context: BrowserContext; problems: string[]; expected: readonly RegExp[] }[] = [];
  beforeAll(async () => {
    browser = await launchChromium(flags);
  });
  afterAll(async () => browser?.close());
  afterEach(async () => {
    const all = opened;
    opened = [];
    await Promise.all(all.map(async ({ context }) => context.close()));
    const problems = all.flatMap((page) =>
      page.problems.filter((problem) => !page.expected.some((pattern) => pattern.test(problem))),
    );
    expect(problems).toEqual([]);
  });

  function running(): Browser {
    if (!browser) throw new Error("The browser is only available inside of tests.");
    return browser;
  }

  return {
    get browser() {
      return running();
    },
    open: async (server, path, options = {}) => {
      const { isLoggedIn = true, token = server.token, device, prepare, ...rest } = options;
      const { expectedProblems = [], ...contextOptions } = rest;
      const context = await running().newContext({
        viewport: DESKTOP,
        locale: "en-GB",
        timezoneId: "UTC",
        ...contextOptions,
        bypassCSP: false,
        serviceWorkers: "block",
        baseURL: server.url,
      });
      server.readers.use(context);
      const problems = await collectProblems(context, new URL(server.url).origin);
      opened.push({ context, problems, expected: expectedProblems });
      if (isLoggedIn && token !== undefined) await logIn(context, token, device);
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      await prepare?.(page);
      await page.goto(`/console${path}`);
      return page;
    },
  };
}

async function logIn(context: BrowserContext, token: string, device = "test"): Promise<void> {
  const response = await context.request.post("/login", { data: { token, device } });
  expect(response.status()).toBe(200);
}
