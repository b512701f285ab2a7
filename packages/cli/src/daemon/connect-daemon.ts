import { DaemonClient, DaemonClientError } from "@codexkit/daemon/client";
import { readFileSync } from "node:fs";
import { CliError, EXIT, usageError } from "../errors/cli-error.ts";
import type { DaemonCommandOptions } from "./daemon-options.ts";
import { type DaemonState, findDaemonStates, removeStateFiles } from "./state-file.ts";

/** A daemon that has answered and accepts the token. */
export interface ConnectedDaemon {
  readonly client: DaemonClient;
  readonly url: string;
}

interface ConnectContext {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

interface Address {
  readonly url: string;
  readonly token: string | undefined;
}

/** How long a daemon may take to answer the first request. */
const ANSWER_MS = 15_000;

/** The daemon's maximum page size. */
export const MAX_PAGE = 500;

/** Characters that are allowed in a header. */
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * Finds the daemon by `--url`, `CODEXKIT_URL` or the files that `codexkit serve` writes, and checks the
 * token. Rejects with a one-line message that says how to fix the problem.
 */
export async function connectDaemon(
  options: DaemonCommandOptions,
  { env, signal }: ConnectContext,
): Promise<ConnectedDaemon> {
  const { url, token } = await findDaemon(options, env);
  const client = new DaemonClient({ url, ...(token !== undefined && { token }) });
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    await client.request("GET /whoami", { signal: limit });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // A valid token without the scope `read` can still be sufficient for the command.
    if (!DaemonClientError.is(error) || error.code !== "forbidden") throw explain(error, url, token);
  }
  return { client, url };
}

async function findDaemon(
  { url, tokenFile }: DaemonCommandOptions,
  env: NodeJS.ProcessEnv,
): Promise<Address> {
  const givenUrl = url ?? (env["CODEXKIT_URL"] || undefined);
  const givenToken = tokenFile === undefined ? readTokenVariable(env) : readToken(tokenFile);
  const { running, stale } = await findDaemonStates();
  removeStateFiles(stale);
  if (givenUrl !== undefined) {
    const address = checkUrl(givenUrl);
    // The token of a daemon on this machine is never sent to another one.
    const own = running.find((state) => checkUrl(state.url) === address);
    return { url: address, token: givenToken ?? tokenOf(own) };
  }
  const [state, ...others] = running;
  if (!state) {
    throw new CliError(EXIT.failed, "No daemon is running on this machine.", {
      hint: "Start one with `codexkit serve`, or pass the URL of one with --url or CODEXKIT_URL.",
    });
  }
  if (others.length > 0) {
    throw usageError(
      `${running.length} daemons are running on this machine: ${running.map((each) => each.url).join(", ")}.`,
      "Choose one with --url.",
    );
  }
  return { url: state.url, token: givenToken ?? tokenOf(state) };
}

function checkUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw usageError(`"${text}" is not the URL of a daemon. Expected a URL such as http://127.0.0.1:4100.`);
  }
  return url.href.replace(/\/$/, "");
}

function tokenOf(state: DaemonState | undefined): string | undefined {
  if (!state || state.tokenFile === null) return undefined;
  try {
    return readToken(state.tokenFile);
  } catch {
    // The file may have been deleted on purpose. The daemon will report if it needs a token.
    return undefined;
  }
}

function readTokenVariable({ CODEXKIT_TOKEN: token }: NodeJS.ProcessEnv): string | undefined {
  if (token === undefined || token === "") return undefined;
  if (!TOKEN.test(token)) {
    // The value is a secret, even if it is not valid.
    throw usageError(
      "CODEXKIT_TOKEN is not a token, because it contains spaces, line breaks or other invalid characters.",
    );
  }
  return token;
}

function readToken(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw new CliError(EXIT.usage, `The token file ${path} can't be read (${code}).`, { cause: error });
  }
  if (!TOKEN.test(text)) throw usageError(`The token file ${path} does not contain a token.`);
  return text;
}

function explain(error: unknown, url: string, token: string | undefined): unknown {
  if (DaemonClientError.is(error)) {
    if (error.code !== "unauthorized") return error;
    const what = token === undefined ? "needs a token" : "does not accept the token";
    return new CliError(EXIT.failed, `The daemon at ${url} ${what}.`, {
      cause: error,
      hint: "Set CODEXKIT_TOKEN, or pass --token-file. With a token that has the scope admin, `codexkit token create` creates one.",
    });
  }
  return new CliError(EXIT.failed, `The daemon at ${url} can't be reached (${reasonOf(error)}).`, {
    cause: error,
    hint: "Check the address, or start a daemon with `codexkit serve`.",
  });
}

/** Returns the innermost reason: fetch hides the socket's error in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer within ${ANSWER_MS / 1000} s`;
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}
