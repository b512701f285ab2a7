import { ExecClient, type ExecClientOptions, ExecError } from "@codexkit/exec-server/client";
import type { Transport } from "@codexkit/rpc";
import { setTimeout as delay } from "node:timers/promises";
import { bearerToken, type RelayCredential } from "../credentials/credential.ts";
import { parseRegistryUrl } from "../credentials/registry-host.ts";
import { RelayError } from "../errors.ts";
import { generateIdentity, type PublicKeyJson, type RelayIdentity } from "../noise/identity.ts";
import { RegistryClient } from "../registry-client/registry-client.ts";
import { HARNESS_RETRY, retryDelayMs } from "../retry-delay.ts";
import { createCounters, type RelayCounters } from "../stream/counters.ts";
import { HarnessDialer } from "./harness-dialer.ts";

export interface HarnessOptions extends ExecClientOptions {
  /** The base URL of the registry. */
  readonly registryUrl: string;
  readonly environmentId: string;
  /** A bearer token, or anything else that authorizes requests: see `findCredential`. */
  readonly credential: string | RelayCredential;
  /**
   * The key pairs of the harness. Default: new ones. If several clients share an identity, a new stream of one of them ends the
   * interrupted streams of the others, which then resume their sessions over new streams.
   */
  readonly identity?: RelayIdentity;
  /** The only executor to connect to. Default: the one that the registry names, which requires trust in the registry. */
  readonly executorKey?: PublicKeyJson;
  /** Allows plain HTTP and WebSockets to other machines. Tokens can then be read in the network, but commands can't. */
  readonly allowInsecureHttp?: boolean;
  /** Whether to reconnect and resume the session after a lost connection, for up to 25 s. Default: true. */
  readonly resume?: boolean;
  /**
   * Whether to offer the reliability extension. With it, a stream to codexkit's executor survives lost frames and lost
   * connections, so that its session need not be resumed. Codex's executor ignores the offer. Default: true.
   */
  readonly reliability?: boolean;
  readonly counters?: RelayCounters;
  readonly signal?: AbortSignal;
}

/** Limits of the first connection. Codex's numbers. */
const FIRST_CONNECT = { retries: 4, timeoutMs: 14_000 };

/**
 * Connects to the executor of an environment through its registry and rendezvous. The client resumes its session, with the
 * processes in it, when the connection is lost.
 *
 * @example
 * await using client = await connectHarness({
 *   registryUrl: "https://registry.example",
 *   environmentId: "build-machine",
 *   credential: process.env["CODEXKIT_RELAY_TOKEN"] ?? "",
 * });
 * const process = await client.start({ argv: ["make", "test"], cwd: "/work" });
 */
export async function connectHarness(options: HarnessOptions): Promise<ExecClient> {
  const { credential, environmentId, allowInsecureHttp = false } = options;
  const dialer = new HarnessDialer({
    registry: new RegistryClient({
      url: parseRegistryUrl(options.registryUrl, allowInsecureHttp),
      environmentId,
      credential: typeof credential === "string" ? bearerToken(credential) : credential,
      allowInsecureHttp,
    }),
    environmentId,
    identity: options.identity ?? generateIdentity(),
    executorKey: options.executorKey,
    counters: options.counters ?? createCounters(),
    reliability: options.reliability ?? true,
  });
  let isFirst = true;
  const dial = (signal: AbortSignal): Promise<Transport> => {
    if (!isFirst) return dialer.dial(signal);
    isFirst = false;
    return dialFirst(dialer, options.signal ? AbortSignal.any([options.signal, signal]) : signal);
  };
  try {
    return await ExecClient.connectWith(dial, {
      clientName: options.clientName ?? "codexkit",
      limits: options.limits ?? {},
      resume: options.resume ?? true,
      resumeDelayMs: (attempt) => retryDelayMs(HARNESS_RETRY, attempt),
      isRetryable,
    });
  } catch (error) {
    throw ExecError.is(error) && RelayError.is(error.cause) ? error.cause : error;
  }
}

/** Retries, because the executor may be reconnecting. */
async function dialFirst(dialer: HarnessDialer, signal: AbortSignal): Promise<Transport> {
  const timeout = AbortSignal.timeout(FIRST_CONNECT.timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await dialer.dial(either);
    } catch (error) {
      if (signal.aborted) throw new RelayError("aborted", "The connection was aborted.", { cause: error });
      if (timeout.aborted) {
        const text = `No executor could be reached within ${FIRST_CONNECT.timeoutMs} ms.`;
        throw new RelayError("timeout", text, { cause: error });
      }
      if (attempt > FIRST_CONNECT.retries || !isRetryable(error)) throw error;
    }
    await delay(retryDelayMs(HARNESS_RETRY, attempt), undefined, { signal: either }).catch(() => {});
  }
}

function isRetryable(error: unknown): boolean {
  if (!RelayError.is(error)) return true;
  return ["connect_failed", "disconnected", "environment_offline", "timeout"].includes(error.code);
}
