import { isDeepStrictEqual } from "node:util";
import type { AgentHandle, SpawnOptions } from "./agent-provider.ts";
import type { AgentSpec } from "./agent-spec.ts";
import { ProviderError } from "./provider-error.ts";
import { untilAborted } from "./until-aborted.ts";

/** Keys that a provider remembers; the oldest is forgotten first. */
const REMEMBERED_KEYS = 1024;

interface KeyedSpawn<Handle> {
  readonly spec: Omit<AgentSpec, "onProcessSpawned">;
  readonly handle: Promise<Handle>;
}

/**
 * Spawns by idempotency key: one session per key, however often it is asked for. A spawn that fails is forgotten, so that the
 * key can be used again.
 */
export class IdempotentSpawns<Handle extends AgentHandle> {
  readonly #spawns = new Map<string, KeyedSpawn<Handle>>();

  /**
   * Returns the session of the key, or calls `spawn`. `signal` belongs to the session that `spawn` starts; for a later call it
   * only ends the wait.
   * @throws {ProviderError} `idempotency_conflict` if the key was used for another spec.
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
      if (isDeepStrictEqual(known.spec, plain)) return untilAborted(known.handle, signal);
      const message = `The idempotency key "${key}" was used for another spec. Use a new key for a new task.`;
      throw new ProviderError("idempotency_conflict", message);
    }
    const handle = spawn();
    this.#spawns.set(key, { spec: plain, handle });
    const [oldest] = this.#spawns.keys();
    if (this.#spawns.size > REMEMBERED_KEYS && oldest !== undefined) this.#spawns.delete(oldest);
    handle.catch(() => {
      if (this.#spawns.get(key)?.handle === handle) this.#spawns.delete(key);
    });
    return handle;
  }
}

/** Functions are never equal, and a retry makes a new one. */
function withoutCallback({ onProcessSpawned: _callback, ...spec }: AgentSpec): KeyedSpawn<never>["spec"] {
  return spec;
}
