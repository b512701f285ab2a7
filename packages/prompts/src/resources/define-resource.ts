/** Gives access to resources. */
export interface Resources {
  /** Returns a resource, creating it on first use. */
  get<Value>(resource: Resource<Value>): Promise<Value>;
}

/** How long a resource lives: as long as the evaluation, or as long as one tool call. */
export type ResourceLifetime = "evaluation" | "call";

/** Something that tools and sections use: a client, a cache, a database. Created on first use. */
export interface Resource<Value> {
  readonly name: string;
  /** Default: "evaluation". */
  readonly lifetime?: ResourceLifetime;
  /** Makes the value. It may use other resources. */
  readonly create: (resources: Resources) => Value | Promise<Value>;
  /** Releases the value when its scope ends. Scopes dispose in reverse order of creation. */
  readonly dispose?: (value: Value) => void | Promise<void>;
  /** Remembers the state before a tool call, for resources that are rolled back with it. */
  readonly snapshot?: (value: Value) => unknown;
  /** Restores what `snapshot` returned after the call failed. */
  readonly restore?: (value: Value, snapshot: unknown) => void | Promise<void>;
}

/**
 * Defines a resource.
 *
 * @example
 * const cart = defineResource({
 *   name: "cart",
 *   create: () => new Map<string, number>(),
 *   snapshot: (items) => new Map(items),
 *   restore: (items, before: Map<string, number>) => {
 *     items.clear();
 *     for (const [name, count] of before) items.set(name, count);
 *   },
 * });
 */
export function defineResource<Value, Snapshot = unknown>(
  resource: Omit<Resource<Value>, "snapshot" | "restore"> & {
    readonly snapshot?: (value: Value) => Snapshot;
    readonly restore?: (value: Value, snapshot: Snapshot) => void | Promise<void>;
  },
): Resource<Value> {
  return resource as Resource<Value>;
}

/** Uses one resource in place of another. */
export interface ResourceOverride {
  readonly resource: object;
  readonly by: object;
}

/**
 * Uses one resource in place of another of the same type.
 *
 * @example
 * const overrides = [overrideResource(tracker, fakeTracker)];
 */
export function overrideResource<Value>(resource: Resource<Value>, by: Resource<Value>): ResourceOverride {
  return { resource, by };
}
