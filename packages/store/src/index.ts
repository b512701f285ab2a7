import "./require-node.ts";

// An open store and its options.
export type { OpenStoreOptions, Store, StoreLimits } from "./store.ts";

// Hints between processes.
export type { Hint, Notifier } from "./notifier/notifier.ts";

// Errors.
export { StoreError, type StoreErrorCode } from "./errors.ts";
