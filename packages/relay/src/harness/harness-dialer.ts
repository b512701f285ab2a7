import { randomUUID } from "node:crypto";
import { RelayError } from "../errors.ts";
import {
  isSamePublicKey,
  type PublicKeyJson,
  publicKeySchema,
  type RelayIdentity,
  type RelayPublicKey,
} from "../noise/identity.ts";
import type { HarnessBundle, RegistryClient } from "../registry-client/registry-client.ts";
import type { RelayCounters } from "../stream/counters.ts";
import type { FrameChannel } from "../stream/frame-channel.ts";
import { dialChannel } from "../stream/dial-channel.ts";
import { openStream } from "../stream/open-stream.ts";
import type { RelayStream } from "../stream/relay-stream.ts";

export interface HarnessDialerOptions {
  readonly registry: RegistryClient;
  readonly environmentId: string;
  readonly identity: RelayIdentity;
  /** The only executor to connect to. */
  readonly executorKey: PublicKeyJson | undefined;
  readonly counters: RelayCounters;
  /** Whether to offer the reliability extension. */
  readonly reliability: boolean;
}

/** Opens streams to the executor of one environment, each with its own authorization. */
export class HarnessDialer {
  readonly #options: HarnessDialerOptions;
  readonly #executorKey: RelayPublicKey | undefined;

  constructor(options: HarnessDialerOptions) {
    this.#options = options;
    this.#executorKey = options.executorKey && parsePinnedKey(options.executorKey);
  }

  /** Opens a stream. If the executor has the reliability extension, it moves to new connections by itself. */
  async dial(signal: AbortSignal): Promise<RelayStream> {
    const { identity, environmentId, counters, reliability } = this.#options;
    const bundle = await this.#connect(signal);
    return refreshable(async () => {
      const channel = await dialBundle(bundle, signal);
      return openStream(channel, {
        ...bundle,
        identity,
        environmentId,
        signal,
        counters,
        reliability,
        reconnect: (reconnectSignal) => this.#reconnect(bundle, reconnectSignal),
      });
    });
  }

  async #connect(signal: AbortSignal): Promise<HarnessBundle> {
    const bundle = await this.#options.registry.connect(this.#options.identity.publicKey, signal);
    this.#assertPinned(bundle);
    return bundle;
  }

  /** Opens a new connection for an existing stream. An executor that was restarted in the meantime does not know the stream. */
  async #reconnect({ executorKey }: HarnessBundle, signal: AbortSignal): Promise<FrameChannel> {
    const bundle = await this.#connect(signal);
    if (!isSamePublicKey(executorKey, bundle.executorKey)) {
      throw new RelayError("refused", "The executor has a new key, so its earlier streams have ended.");
    }
    return refreshable(() => dialBundle(bundle, signal));
  }

  #assertPinned({ executorKey }: HarnessBundle): void {
    if (!this.#executorKey || isSamePublicKey(this.#executorKey, executorKey)) return;
    throw new RelayError(
      "protocol_violation",
      "The registry named an executor with another key than the pinned one (executorKey).",
    );
  }
}

function dialBundle({ url }: HarnessBundle, signal: AbortSignal): Promise<FrameChannel> {
  return dialChannel(url, { role: "harness", headers: { "x-request-id": randomUUID() }, signal });
}

/** Makes a refusal retryable: the authorization may have expired, or the executor restarted, after the registry's answer. */
async function refreshable<Value>(connect: () => Promise<Value>): Promise<Value> {
  try {
    return await connect();
  } catch (error) {
    if (!RelayError.is(error) || (error.code !== "unauthorized" && error.code !== "refused")) throw error;
    throw new RelayError("connect_failed", error.message, { cause: error });
  }
}

function parsePinnedKey(json: PublicKeyJson): RelayPublicKey {
  const parsed = publicKeySchema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new RelayError("bad_option", "executorKey is not the public key of an executor.");
}
