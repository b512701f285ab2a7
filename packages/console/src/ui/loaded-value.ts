import type { Resource } from "solid-js";

/** Undefined until the resource is loaded. Calling the resource itself would suspend the whole screen until then. */
export function loadedValue<Value>(resource: Resource<Value>): Value | undefined {
  return resource.state === "ready" || resource.state === "refreshing" ? resource.latest : undefined;
}
