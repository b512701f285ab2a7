// Keyboard shortcuts with scopes, which can be changed and disabled.
export { findConflict } from "./find-conflict.ts";
export { KEY_CATALOGUE, KEY_SCOPES, type KeyDefinition, type KeyScope } from "./key-catalogue.ts";
export { formatKeys, keysOfPress } from "./parse-keys.ts";
export { keyRegistry, useKeys } from "./use-keys.ts";
