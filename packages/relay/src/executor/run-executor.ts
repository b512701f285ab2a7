import type { ExecServerOptions, Logger } from "@codexkit/exec-server";
import { type RelayCredential, bearerToken } from "../credentials/credential.ts";
import { parseRegistryUrl } from "../credentials/registry-host.ts";
import { RelayError } from "../errors.ts";
import {
  generateIdentity,
  type PublicKeyJson,
  type RelayIdentity,
  toPublicKeyJson,
} from "../noise/identity.ts";
import { RegistryClient } from "../registry-client/registry-client.ts";
import { createCounters, type RelayCounters } from "../stream/counters.ts";
import { DirectConnector } from "./direct-connector.ts";
import { type ExecutorConnector, type ExecutorStatus, runExecutorLoop } from "./executor-loop.ts";
import { Forwarder } from "./forwarder.ts";
import { NoiseConnector } from "./noise-connector.ts";
import type { StreamServer } from "./stream-server.ts";

export interface ExecutorOptions {
  /** The base URL of the registry. */
  readonly registryUrl: string;
  readonly environmentId: string;
  /** A bearer token, or anything else that authorizes requests: see `findCredential`. */
  readonly credential: string | RelayCredential;
  /** A name for the log. */
  readonly name?: string;
  /** `noise` (default) encrypts end to end. `direct` carries plain JSON-RPC to the peer that the registry names. */
  readonly transport?: "noise" | "direct";
  /** The key pairs of the executor. Default: new ones, so that its public key changes with each start. */
  readonly identity?: RelayIdentity;
  /** Whether to serve a harness whose key the registry has accepted. Default: yes. */
  readonly isTrustedHarness?: (key: PublicKeyJson) => boolean;
  /** Whether to accept the reliability extension, which codexkit's harness offers. Default: true. */
  readonly reliability?: boolean;
  /** Options of the exec-server that runs the commands. */
  readonly server?: Pick<ExecServerOptions, "bwrap" | "concurrentRequests" | "limits">;
  /** Forwards all streams to a running exec-server, instead of starting one. */
  readonly forwardTo?: { readonly url: string; readonly token?: string };
  /** Allows plain HTTP and WebSockets to other machines. Tokens can then be read in the network, but commands can't. */
  readonly allowInsecureHttp?: boolean;
  /** Receives each change of the connection. */
  readonly onStatus?: (status: ExecutorStatus) => void;
  /** Receives log records. They never contain tokens, commands or output. */
  readonly log?: Logger;
  /** Closes the executor. */
  readonly signal?: AbortSignal;
}

export interface Executor extends AsyncDisposable {
  /** The public key, for harnesses that pin it. Undefined for `direct`. */
  readonly publicKey: PublicKeyJson | undefined;
  readonly status: ExecutorStatus;
  /** Counts of accepted and refused streams, handshakes and frames. */
  readonly counters: RelayCounters;
  /** Resolves when the executor has been closed. */
  readonly closed: Promise<void>;
  /** Ends all streams and their processes. */
  close(): Promise<void>;
}

const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Registers this machine as the executor of an environment, and runs the commands of harnesses that connect to it through
 * the registry's rendezvous. Resolves when it is connected. Rejects if the first registration fails. Afterwards, it
 * reconnects indefinitely.
 *
 * @example
 * await using executor = await runExecutor({
 *   registryUrl: "https://registry.example",
 *   environmentId: "build-machine",
 *   credential: findCredential({ url: "https://registry.example" }),
 * });
 * await executor.closed;
 */
export async function runExecutor(options: ExecutorOptions): Promise<Executor> {
  const { environmentId, signal, log = SILENT } = options;
  const credential = toCredential(options.credential);
  const registry = new RegistryClient({
    url: parseRegistryUrl(options.registryUrl, options.allowInsecureHttp ?? false),
    environmentId,
    credential,
    allowInsecureHttp: options.allowInsecureHttp ?? false,
  });
  await using starting = new AsyncDisposableStack();
  const server = starting.use(await startStreamServer(options, log));
  const identity = options.identity ?? generateIdentity();
  const counters = createCounters();
  const connector: ExecutorConnector =
    options.transport === "direct"
      ? new DirectConnector({ registry, credential, server })
      : starting.use(
          new NoiseConnector({
            registry,
            environmentId,
            identity,
            server,
            counters,
            reliability: options.reliability ?? true,
            isTrustedHarness: options.isTrustedHarness,
          }),
        );
  const publicKey = options.transport === "direct" ? undefined : toPublicKeyJson(identity.publicKey);
  const executor = new RunningExecutor({ connector, counters, publicKey, options, log }, starting.move());
  await executor.connected.catch(async (error: unknown) => {
    await executor.close();
    throw signal?.aborted === true
      ? new RelayError("aborted", "The executor was aborted.", { cause: error })
      : error;
  });
  return executor;
}

interface RunningExecutorParts {
  readonly connector: ExecutorConnector;
  readonly counters: RelayCounters;
  readonly publicKey: PublicKeyJson | undefined;
  readonly options: ExecutorOptions;
  readonly log: Logger;
}

class RunningExecutor implements Executor {
  readonly publicKey: PublicKeyJson | undefined;
  readonly counters: RelayCounters;
  readonly closed: Promise<void>;
  /** Settles with the first connection, or with the failure of the first registration. */
  readonly connected: Promise<void>;
  readonly #stopping = new AbortController();
  readonly #closed = Promise.withResolvers<void>();
  readonly #stack: AsyncDisposableStack;
  readonly #loop: Promise<void>;
  #status: ExecutorStatus = { state: "waiting", error: undefined, retryDelayMs: 0 };
  #closing: Promise<void> | undefined;

  constructor(
    { connector, counters, publicKey, options, log }: RunningExecutorParts,
    stack: AsyncDisposableStack,
  ) {
    this.publicKey = publicKey;
    this.counters = counters;
    this.closed = this.#closed.promise;
    this.#stack = stack;
    const connected = Promise.withResolvers<void>();
    this.connected = connected.promise;
    this.connected.catch(() => {});
    const { signal, onStatus } = options;
    const close = (): void => void this.close();
    if (signal?.aborted === true) this.#stopping.abort();
    signal?.addEventListener("abort", close, { once: true });
    stack.defer(() => signal?.removeEventListener("abort", close));
    this.#loop = runExecutorLoop({
      connector,
      log,
      signal: this.#stopping.signal,
      onStatus: (status) => {
        this.#status = status;
        if (status.state === "connected") connected.resolve();
        onStatus?.(status);
      },
    });
    this.#loop
      .then(() => connected.reject(new RelayError("aborted", "The executor was closed.")))
      .catch(connected.reject);
    stack.defer(() => {
      this.#status = { state: "closed" };
      onStatus?.(this.#status);
    });
  }

  get status(): ExecutorStatus {
    return this.#status;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => this.#closed.resolve());
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.catch(() => {});
    await this.#stack.disposeAsync();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

async function startStreamServer(options: ExecutorOptions, log: Logger): Promise<StreamServer> {
  const { forwardTo } = options;
  if (forwardTo && options.transport === "direct") {
    throw new RelayError("bad_option", "The direct transport can't forward to an exec-server.");
  }
  if (forwardTo) return new Forwarder({ ...forwardTo, log });
  // Imported here, because a forwarder does not need it.
  const { ExecServer } = await import("@codexkit/exec-server");
  return ExecServer.start({ ...options.server, listen: "none", log });
}

function toCredential(credential: string | RelayCredential): RelayCredential {
  return typeof credential === "string" ? bearerToken(credential) : credential;
}
