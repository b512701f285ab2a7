import { BoundedMap } from "@codexkit/rpc/async";
import { isDeepStrictEqual } from "node:util";
import type { AgentHandle, SpawnOptions } from "./agent-provider.ts";
import type { AgentSpec } from "./agent-spec.ts";
import { ProviderError } from "./provider-error.ts";
import { raceCancel } from "./cancelled.ts";

/** Number of keys to remember. */
const REMEMBERED_KEYS = 1024;

interface KeyedSpawn<Handle> {
  readonly spec: Omit<AgentSpec, "onProcessSpawned">;
  readonly handle: Promise<Handle>;
}

/**
 * Starts one session per idempotency key. A failed spawn is forgotten, so that the key can be used again.
 */
export class IdempotentSpawns<Handle extends AgentHandle> {
  readonly #spawns = new BoundedMap<string, KeyedSpawn<Handle>>(REMEMBERED_KEYS);

  /**
   * Returns the session of the key, or calls `spawn`. For a call that joins an earlier one, `signal` only ends the wait. If the
   * earlier call is cancelled before its session is open, the joining call spawns the session.
   * @throws {ProviderError} `idempotency_conflict` if the key was used for a different spec.
   */
  async once(
    spec: AgentSpec,
    { idempotencyKey: key, signal }: SpawnOptions,
    spawn: () => Promise<Handle>,
  ): Promise<Handle> {
    if (key === undefined) return spawn();
    const plain = withoutCallback(spec);
    const known = this.#spawns.get(key);
    if (known) {
      if (isDeepStrictEqual(known.spec, plain))
        return this.#join(known.handle, spec, { idempotencyKey: key, signal }, spawn);
      const message = `The idempotency key "${key}" was used for a different spec. Use a new key for a new task.`;
      throw new ProviderError("idempotency_conflict", message);
    }
    const handle = spawn();
    this.#spawns.set(key, { spec: plain, handle });
    handle.catch(() => {
      if (this.#spawns.get(key)?.handle === handle) this.#spawns.delete(key);
    });
    return handle;
  }

  async #join(
    handle: Promise<Handle>,
    spec: AgentSpec,
    options: SpawnOptions,
    spawn: () => Promise<Handle>,
  ): Promise<Handle> {
    try {
      return await raceCancel(handle, options.signal);
    } catch (error) {
      const isOfOther =
        ProviderError.is(error) && error.code === "context_cancelled" && !options.signal?.aborted;
      if (!isOfOther) throw error;
      // The failed spawn has been forgotten.
      return this.once(spec, options, spawn);
    }
  }
}

/** Functions are never equal: a retry creates a new one. */
function withoutCallback({ onProcessSpawned: _callback, ...spec }: AgentSpec): KeyedSpawn<never>["spec"] {
  return spec;
}
