import "./require-node.ts";

// An open store and its options.
export { openStore } from "./open-store.ts";
export type {
  DedicatedConnection,
  DedicatedOptions,
  Migrations,
  OpenStoreOptions,
  Store,
  StoreKind,
  StoreMigration,
} from "./store.ts";
export { DEFAULT_STORE_LIMITS, type StoreLimits } from "./limits.ts";

// Hints between processes.
export type { Hint, Notifier } from "./notifier/notifier.ts";

// Errors.
export { StoreError, type StoreErrorCode } from "./errors.ts";
