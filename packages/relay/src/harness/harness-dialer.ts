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
}

/** Opens streams to the executor of one environment, each with an authorization of its own. */
export class HarnessDialer {
  readonly #options: HarnessDialerOptions;
  readonly #executorKey: RelayPublicKey | undefined;

  constructor(options: HarnessDialerOptions) {
    this.#options = options;
    this.#executorKey = options.executorKey && parsePinnedKey(options.executorKey);
  }

  async dial(signal: AbortSignal): Promise<RelayStream> {
    const { registry, identity, environmentId, counters } = this.#options;
    const bundle = await registry.connect(identity.publicKey, signal);
    this.#assertPinned(bundle);
    try {
      const headers = { "x-request-id": randomUUID() };
      const channel = await dialChannel(bundle.url, { role: "harness", headers, signal });
      return await openStream(channel, { ...bundle, identity, environmentId, signal, counters });
    } catch (error) {
      // An authorization can expire and an executor can restart after the registry has answered: a new answer may help.
      const code = RelayError.is(error) ? error.code : undefined;
      if (code !== "unauthorized" && code !== "refused") throw error;
      throw new RelayError("connect_failed", (error as RelayError).message, { cause: error });
    }
  }

  #assertPinned({ executorKey }: HarnessBundle): void {
    if (!this.#executorKey || isSamePublicKey(this.#executorKey, executorKey)) return;
    throw new RelayError(
      "protocol_violation",
      "The registry named an executor with another key than the pinned one (executorKey).",
    );
  }
}

function parsePinnedKey(json: PublicKeyJson): RelayPublicKey {
  const parsed = publicKeySchema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new RelayError("bad_option", "executorKey is not the public key of an executor.");
}
