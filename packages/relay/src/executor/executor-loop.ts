import type { Logger } from "@codexkit/exec-server";
import { setTimeout as delay } from "node:timers/promises";
import { RelayError } from "../errors.ts";
import type { ExecutorRegistration } from "../registry-client/registry-client.ts";
import { EXECUTOR_RETRY, retryDelayMs, SUSPENDED_RETRY } from "../retry-delay.ts";

/** An executor's connection to its rendezvous. */
export interface ExecutorLink {
  /** Resolves with the reason when the connection has ended. Never rejects. */
  readonly closed: Promise<Error | undefined>;
  /** Closes it because the executor stops. */
  close(): Promise<void>;
}

/** How an executor registers and connects: through Noise streams or directly. */
export interface ExecutorConnector {
  /** Whether streams wait for the next connection. */
  readonly hasSuspendedStreams: boolean;
  register(signal: AbortSignal): Promise<ExecutorRegistration>;
  /** Rejects with `unauthorized` or `refused` if the URL is no longer accepted, so that a new registration is needed. */
  connect(registration: ExecutorRegistration, signal: AbortSignal): Promise<ExecutorLink>;
}

/** A change in an executor's connection to its registry and rendezvous. */
export type ExecutorStatus =
  | { readonly state: "registered"; readonly registrationId: string }
  | { readonly state: "connected"; readonly registrationId: string }
  /** Not connected. The next attempt starts after the delay. */
  | { readonly state: "waiting"; readonly error: Error | undefined; readonly retryDelayMs: number }
  | { readonly state: "closed" };

export interface ExecutorLoopOptions {
  readonly connector: ExecutorConnector;
  readonly onStatus: (status: ExecutorStatus) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** For tests. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Keeps an executor connected until the signal aborts. Rejects only if the first registration fails: a later one may
 * fail because the registry is restarting, or because its token is being replaced.
 */
export async function runExecutorLoop(options: ExecutorLoopOptions): Promise<void> {
  const { connector, onStatus, log, signal } = options;
  const sleep = options.sleep ?? ((ms: number) => delay(ms, undefined, { signal }));
  let registration: ExecutorRegistration | undefined = await register(options);
  for (let failures = 0; !signal.aborted;) {
    let error: Error | undefined;
    try {
      registration ??= await register(options);
      const { registrationId } = registration;
      const link = await connector.connect(registration, signal);
      failures = 0;
      onStatus({ state: "connected", registrationId });
      log.info("connected to the rendezvous", { registrationId });
      error = await waitForEnd(link, signal);
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error(String(thrown));
      if (needsRegistration(error)) registration = undefined;
    }
    if (signal.aborted) break;
    failures += 1;
    const retry = retryDelayMs(connector.hasSuspendedStreams ? SUSPENDED_RETRY : EXECUTOR_RETRY, failures);
    log.warn("not connected to the rendezvous", { reason: error?.message, retryDelayMs: Math.round(retry) });
    onStatus({ state: "waiting", error, retryDelayMs: retry });
    await sleep(retry, signal).catch(() => {});
  }
}

async function register({
  connector,
  onStatus,
  log,
  signal,
}: ExecutorLoopOptions): Promise<ExecutorRegistration> {
  const registration = await connector.register(signal);
  const { registrationId } = registration;
  log.info("registered", { registrationId });
  onStatus({ state: "registered", registrationId });
  return registration;
}

async function waitForEnd(link: ExecutorLink, signal: AbortSignal): Promise<Error | undefined> {
  const close = (): void => void link.close();
  if (signal.aborted) close();
  signal.addEventListener("abort", close, { once: true });
  try {
    return await link.closed;
  } finally {
    signal.removeEventListener("abort", close);
  }
}

function needsRegistration(error: unknown): boolean {
  return RelayError.is(error) && (error.code === "unauthorized" || error.code === "refused");
}
