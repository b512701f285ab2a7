import { SerialQueue } from "@codexkit/rpc/async";
import { PromptError } from "../errors.ts";
import type { Resource, ResourceOverride, Resources } from "./define-resource.ts";

/** The state of all resources that can be rolled back: one restore function per resource. */
export type ResourceSnapshot = readonly (() => Promise<void>)[];

/** A created resource with its value type erased. */
interface CreatedResource {
  readonly value: unknown;
  dispose(): Promise<void>;
  /** Returns a function that restores the current state, or undefined if the resource can't be rolled back. */
  snapshot(): (() => Promise<void>) | undefined;
}

/** Creates resources on first use and disposes them in reverse order. */
export class ResourceScope implements Resources, AsyncDisposable {
  readonly #evaluation: ResourceScope | undefined;
  readonly #created = new Map<object, CreatedResource>();
  /** Resources are created one at a time. Otherwise, two that depend on each other would wait forever. */
  readonly #creations: SerialQueue;

  readonly #overrides: ReadonlyMap<object, object>;
  /** Restore functions of the resources that this call uses. Those of resources that it creates are added on creation. */
  readonly #restores: (() => Promise<void>)[] = [];

  private constructor(overrides: ReadonlyMap<object, object>, evaluation?: ResourceScope) {
    this.#overrides = overrides;
    this.#evaluation = evaluation;
    this.#creations = evaluation ? evaluation.#creations : new SerialQueue();
  }

  static open(overrides: readonly ResourceOverride[] = []): ResourceScope {
    return new ResourceScope(new Map(overrides.map(({ resource, by }) => [resource, by])));
  }

  /** Opens a scope for one tool call, which shares the evaluation's resources. */
  openCall(): ResourceScope {
    return new ResourceScope(this.#overrides, this);
  }

  /**
   * Returns a resource, creating it if needed.
   * @throws {PromptError} `invalid_resource` if it can't be created or depends on itself
   */
  async get<Value>(resource: Resource<Value>): Promise<Value> {
    const created = this.#find(this.#replace(resource));
    if (created) return created.value as Value;
    return this.#creations.run(() => this.#getOrCreate(resource, []));
  }

  /**
   * Saves the state of every created resource that can be rolled back. If the call creates a resource later, its initial state is
   * saved, because a resource of the evaluation outlives the call.
   */
  snapshot(): ResourceSnapshot {
    const shared = this.#evaluation ? this.#evaluation.#created.values() : [];
    const created = [...shared, ...this.#created.values()];
    this.#restores.push(...created.flatMap((one) => one.snapshot() ?? []));
    return this.#restores;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const created = [...this.#created.values()].toReversed();
    this.#created.clear();
    const failures: unknown[] = [];
    for (const resource of created) await resource.dispose().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, "Some resources could not be disposed.");
  }

  async #getOrCreate<Value>(
    wanted: Resource<Value>,
    path: readonly { readonly name: string }[],
  ): Promise<Value> {
    const resource = this.#replace(wanted);
    const created = this.#find(resource);
    if (created) return created.value as Value;
    const chain = [...path, resource];
    if (path.includes(resource)) {
      const names = chain.map(({ name }) => name).join(" → ");
      throw new PromptError("invalid_resource", `Resource "${resource.name}" depends on itself: ${names}.`);
    }
    const value = await this.#create(resource, chain);
    const entry = toCreated(resource, value);
    const owner = this.#ownerOf(resource);
    owner.#created.set(resource, entry);
    const restore = owner === this ? undefined : entry.snapshot();
    if (restore) this.#restores.push(restore);
    return value;
  }

  async #create<Value>(
    resource: Resource<Value>,
    chain: readonly { readonly name: string }[],
  ): Promise<Value> {
    try {
      return await resource.create({ get: (other) => this.#getOrCreate(other, chain) });
    } catch (cause) {
      if (PromptError.is(cause)) throw cause;
      throw new PromptError("invalid_resource", `Resource "${resource.name}" could not be created.`, {
        cause,
      });
    }
  }

  #replace<Value>(resource: Resource<Value>): Resource<Value> {
    return (this.#overrides.get(resource) as Resource<Value> | undefined) ?? resource;
  }

  #find<Value>(resource: Resource<Value>): CreatedResource | undefined {
    return this.#ownerOf(resource).#created.get(resource);
  }

  #ownerOf<Value>({ lifetime = "evaluation" }: Resource<Value>): ResourceScope {
    return lifetime === "evaluation" && this.#evaluation ? this.#evaluation : this;
  }
}

function toCreated<Value>({ dispose, snapshot, restore }: Resource<Value>, value: Value): CreatedResource {
  return {
    value,
    dispose: async () => dispose?.(value),
    snapshot: () => {
      if (!snapshot || !restore) return undefined;
      const state = snapshot(value);
      return async () => restore(value, state);
    },
  };
}
