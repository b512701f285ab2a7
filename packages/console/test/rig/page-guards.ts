import type { BrowserContext } from "playwright-core";

/** Requests that fail in normal use: before a login, and for threads of the CLI where the daemon reads none. */
const EXPECTED_FAILURES: ReadonlySet<string> = new Set(["/whoami", "/threads"]);

/**
 * Collects what no page may do: uncaught errors and rejections, errors on the console, requests to other origins, and violations of
 * its content security policy.
 */
export async function collectProblems(context: BrowserContext, origin: string): Promise<string[]> {
  const problems: string[] = [];
  context.on("weberror", (error) => problems.push(`uncaught: ${describe(error.error())}`));
  context.on("console", (message) => {
    if (message.type() !== "error") return;
    const { url } = message.location();
    // Chromium reports every failed response as an error. Connections are lost only by what tests do.
    const isResponse = message.text().startsWith("Failed to load resource: ");
    if (isResponse && /net::ERR_/.test(message.text())) return;
    if (isResponse && EXPECTED_FAILURES.has(new URL(url, origin).pathname)) return;
    problems.push(`console.error: ${message.text()}${isResponse ? ` (${url})` : ""}`);
  });
  context.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol === "data:" || url.protocol === "blob:" || url.origin === origin) return;
    problems.push(`request to another origin: ${request.url()}`);
  });
  await context.exposeBinding("reportPolicyViolation", (_source, description: string) => {
    problems.push(`content security policy: ${description}`);
  });
  await context.addInitScript(() => {
    const { reportPolicyViolation } = globalThis as unknown as {
      reportPolicyViolation: (description: string) => void;
    };
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile }) => {
      reportPolicyViolation(`${violatedDirective} blocks ${blockedURI} of ${sourceFile}`);
    });
  });
  return problems;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Errors of the browser itself have an empty stack.
  return error.stack || `${error.name}: ${error.message}`;
}
