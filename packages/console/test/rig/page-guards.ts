import type { BrowserContext, Page } from "playwright-core";

/** Responses that fail in normal use: before a login, and for threads of the CLI where the daemon reads none. */
const EXPECTED_FAILURES: ReadonlySet<string> = new Set(["/whoami", "/threads"]);

/** Matches connections that were lost. Only tests that cut connections, or end a server, expect these. */
export const LOST_CONNECTION = /^connection lost: /;

/**
 * Collects what no page may do, in its documents and in their workers: uncaught errors and rejections, errors on the console,
 * requests to other origins, requests without a response, and violations of its content security policy.
 */
export async function collectProblems(context: BrowserContext, origin: string): Promise<string[]> {
  const problems: string[] = [];
  const isForeign = (address: string): boolean => {
    const url = new URL(address);
    if (url.protocol === "data:" || url.protocol === "blob:") return false;
    return url.origin.replace(/^ws/, "http") !== origin;
  };
  context.on("weberror", (error) => problems.push(`uncaught: ${describe(error.error())}`));
  context.on("console", (message) => {
    // The log reports those of workers.
    if (message.type() !== "error" || message.worker()) return;
    const { url } = message.location();
    // Chromium reports every failed response as an error. Requests without a response are reported below.
    const isResponse = message.text().startsWith("Failed to load resource: ");
    if (isResponse && message.text().includes("net::ERR_")) return;
    if (isResponse && EXPECTED_FAILURES.has(new URL(url, origin).pathname)) return;
    problems.push(`console.error: ${message.text()}${isResponse ? ` (${url})` : ""}`);
  });
  context.on("request", (request) => {
    if (isForeign(request.url())) problems.push(`request to another origin: ${request.url()}`);
  });
  context.on("requestfailed", (request) => {
    const error = request.failure()?.errorText ?? "unknown error";
    // The page has ended the request itself, or was closed.
    if (error !== "net::ERR_ABORTED") problems.push(`connection lost: ${error} (${request.url()})`);
  });
  context.on("page", (page) => {
    page.on("websocket", (socket) => {
      if (isForeign(socket.url())) problems.push(`request to another origin: ${socket.url()}`);
    });
    // The page may be closed before the session is open.
    watchWorkers(page, problems).catch(() => undefined);
  });
  await context.exposeBinding("reportProblem", (_source, description: string) => {
    problems.push(description);
  });
  await context.addInitScript(() => {
    const { reportProblem } = globalThis as unknown as { reportProblem: (description: string) => void };
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile }) => {
      reportProblem(`content security policy: ${violatedDirective} blocks ${blockedURI} of ${sourceFile}`);
    });
    // It belongs to no page, so that its errors and requests would not be seen.
    globalThis.SharedWorker = class extends SharedWorker {
      constructor(url: string | URL, options?: string | WorkerOptions) {
        super(url, options);
        reportProblem(`shared worker: ${url}`);
      }
    };
  });
  return problems;
}

/**
 * Collects errors of a page's workers: what they write to the console, and violations of the policy. Playwright drops the latter,
 * and scripts that it adds don't run in workers.
 */
async function watchWorkers(page: Page, problems: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on("Log.entryAdded", ({ entry: { source, level, text } }) => {
    if (source === "worker" && level === "error") problems.push(`worker: ${text}`);
  });
  // Sends the entries from before, too.
  await session.send("Log.enable");
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Errors of the browser itself have an empty stack.
  return error.stack || `${error.name}: ${error.message}`;
}
