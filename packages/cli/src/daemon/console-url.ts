import { type DaemonClient, DaemonClientError, type Scope } from "@codexkit/daemon/client";
import { CliError, EXIT } from "../errors/cli-error.ts";

export interface ConsoleUrlOptions {
  readonly scopes?: readonly Scope[];
  readonly expiresInMs?: number;
  readonly signal?: AbortSignal;
}

/** Creates a URL of a daemon's console with a code that logs in one browser, once. */
export async function createConsoleUrl(
  url: string,
  client: DaemonClient,
  { scopes, expiresInMs, signal }: ConsoleUrlOptions = {},
): Promise<string> {
  try {
    const { code } = await client.request("POST /login-codes", {
      body: { ...(scopes && { scopes: [...scopes] }), ...(expiresInMs !== undefined && { expiresInMs }) },
      ...(signal && { signal }),
    });
    // Browsers don't send the part after the #, so no server or log receives the code.
    return `${consoleAddress(url)}login#code=${code}`;
  } catch (error) {
    // The daemon does not require tokens.
    if (DaemonClientError.is(error) && error.code === "unprocessable") return consoleAddress(url);
    throw error;
  }
}

export function consoleAddress(url: string): string {
  return `${url.replace(/\/$/, "")}/console/`;
}

/** Rejects if the daemon does not serve the console. */
export async function requireConsole(url: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(consoleAddress(url), { method: "HEAD", signal });
  if (response.ok) return;
  throw new CliError(EXIT.failed, `The daemon at ${url} does not serve the console.`, {
    hint: "It was started with --no-console, or by a program without `staticFiles`.",
  });
}
