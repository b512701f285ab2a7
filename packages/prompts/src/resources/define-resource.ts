import { type OptionKeys, rejectUnknownOptions } from "codexkit";
import { checkValue, isFunction } from "../check-value.ts";
import { PromptError } from "../errors.ts";

/** Gives access to resources. */
export interface Resources {
  /** Returns a resource, creating it on first use. */
  get<Value>(resource: Resource<Value>): Promise<Value>;
}

/** How long a resource lives: for the whole evaluation, or for one tool call. */
export type ResourceLifetime = "evaluation" | "call";

/** A dependency of tools and sections, such as a client, a cache or a database. Created on first use. */
export interface Resource<Value> {
  readonly name: string;
  /** Default: "evaluation". */
  readonly lifetime?: ResourceLifetime;
  /** Creates the value. Can use other resources. */
  readonly create: (resources: Resources) => Value | Promise<Value>;
  /** Releases the value when its scope ends. Resources are disposed in reverse order of creation. */
  readonly dispose?: (value: Value) => void | Promise<void>;
  /** Saves the state before a tool call, so that a failed call can be rolled back. */
  readonly snapshot?: (value: Value) => unknown;
  /** Restores the state that `snapshot` returned, after a call has failed. */
  readonly restore?: (value: Value, snapshot: unknown) => void | Promise<void>;
}

const KNOWN: OptionKeys<Resource<never>> = {
  name: true,
  lifetime: true,
  create: true,
  dispose: true,
  snapshot: true,
  restore: true,
};

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
  const { name, create, snapshot, restore } = resource;
  rejectUnknownOptions("defineResource", resource as Resource<Value>, KNOWN as OptionKeys<Resource<Value>>);
  if (typeof name !== "string" || name === "")
    throw new PromptError("invalid_definition", "A resource needs a name.");
  if (typeof create !== "function")
    throw new PromptError("invalid_definition", `Resource "${name}" needs a create function.`);
  const check = (
    what: string,
    expected: string,
    value: unknown,
    isValid: (value: unknown) => boolean,
  ): void => checkValue(`Resource "${name}": ${what}`, value, expected, isValid, "invalid_definition");
  const isLifetime = (value: unknown): boolean => value === "evaluation" || value === "call";
  check("lifetime", '"evaluation" or "call"', resource.lifetime, isLifetime);
  check("dispose", "a function", resource.dispose, isFunction);
  check("snapshot", "a function", snapshot, isFunction);
  check("restore", "a function", restore, isFunction);
  if ((snapshot === undefined) !== (restore === undefined)) {
    throw new PromptError(
      "invalid_definition",
      `Resource "${name}" has only one of snapshot and restore. It needs both to be rolled back.`,
    );
  }
  return resource as Resource<Value>;
}

/** Replaces a resource with another. */
export interface ResourceOverride {
  readonly resource: object;
  readonly by: object;
}

/**
 * Replaces a resource with another of the same type.
 *
 * @example
 * const overrides = [overrideResource(tracker, fakeTracker)];
 */
export function overrideResource<Value>(resource: Resource<Value>, by: Resource<Value>): ResourceOverride {
  return { resource, by };
}
