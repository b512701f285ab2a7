// Keys of the page: bindings with scopes, which can be changed and switched off.
export { type KeyBinding, type KeyGroup, type KeyScope, type KeySettings } from "./key-registry.ts";
export { formatKeys } from "./parse-keys.ts";
export { keyRegistry, useKeys } from "./use-keys.ts";
