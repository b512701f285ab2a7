// Keys of the page: shortcuts with scopes, which can be changed and switched off.
export { findConflict } from "./find-conflict.ts";
export { KEY_CATALOGUE, KEY_SCOPES, type KeyDefinition, type KeyScope } from "./key-catalogue.ts";
export { formatKeys, keysOfPress } from "./parse-keys.ts";
export { keyRegistry, useKeys } from "./use-keys.ts";
