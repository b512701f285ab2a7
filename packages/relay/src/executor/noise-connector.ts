import { randomUUID } from "node:crypto";
import { RELAY_LIMITS } from "../limits.ts";
import { type PublicKeyJson, type RelayIdentity, toPublicKeyJson } from "../noise/identity.ts";
import type {
  ExecutorRegistration,
  HarnessVerdict,
  RegistryClient,
} from "../registry-client/registry-client.ts";
import type { HarnessRequest } from "../stream/acceptor-options.ts";
import type { RelayCounters } from "../stream/counters.ts";
import { dialChannel } from "../stream/dial-channel.ts";
import { StreamAcceptor } from "../stream/stream-acceptor.ts";
import type { ExecutorConnector, ExecutorLink } from "./executor-loop.ts";
import type { StreamServer } from "./stream-server.ts";

export interface NoiseConnectorOptions {
  readonly registry: RegistryClient;
  readonly environmentId: string;
  readonly identity: RelayIdentity;
  readonly server: StreamServer;
  readonly counters: RelayCounters;
  readonly reliability: boolean;
  /** Refuses harnesses that the registry would accept. */
  readonly isTrustedHarness?: ((key: PublicKeyJson) => boolean) | undefined;
}

/** Registers an executor with its key, and serves the encrypted streams that arrive through the rendezvous. */
export class NoiseConnector implements ExecutorConnector, AsyncDisposable {
  readonly #options: NoiseConnectorOptions;
  readonly #acceptor: StreamAcceptor;

  constructor(options: NoiseConnectorOptions) {
    const { environmentId, identity, server, counters, reliability } = options;
    this.#options = options;
    this.#acceptor = new StreamAcceptor({
      environmentId,
      identity,
      counters,
      reliability,
      validate: (request) => this.#validate(request),
      onStream: (stream, { claim }) =>
        server.accept(stream, { longestMessageBytes: RELAY_LIMITS.messageBytes, claim }),
    });
  }

  get hasSuspendedStreams(): boolean {
    return this.#acceptor.hasSuspendedStreams;
  }

  register(signal: AbortSignal): Promise<ExecutorRegistration> {
    return this.#options.registry.register(this.#options.identity.publicKey, signal);
  }

  async connect({ url, registrationId }: ExecutorRegistration, signal: AbortSignal): Promise<ExecutorLink> {
    const headers = { "x-request-id": randomUUID() };
    const channel = await dialChannel(url, { role: "executor", headers, signal });
    const closed = this.#acceptor.serve(channel, registrationId);
    // The acceptor ends the streams first, so that harnesses don't have to wait for a timeout.
    return { closed, close: () => this.#acceptor.close() };
  }

  async #validate({ harnessKey, signal, ...claim }: HarnessRequest): Promise<HarnessVerdict> {
    const { registry, isTrustedHarness } = this.#options;
    if (isTrustedHarness?.(toPublicKeyJson(harnessKey)) === false) return { isValid: false };
    return registry.validate({ ...claim, harnessKey }, signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#acceptor.close();
  }
}
