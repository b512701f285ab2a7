/** The reason for a {@link StoreError}. Match on these codes, never on the message. */
export type StoreErrorCode =
  /** Another process has the SQLite folder open. The message names that process. */
  | "store_locked"
  /** The store was migrated by another version, with migrations that this one can't ignore. */
  | "store_too_new"
  /** The disk that holds the store is full. Nothing from the failed transaction was stored. */
  | "store_full"
  /** The store can't be reached, or did not answer in time. A retry may succeed. */
  | "store_unavailable"
  /** The location is neither a folder nor a `postgres://` URL, or can't be opened. */
  | "bad_location"
  /** The store was closed by this program. */
  | "store_closed";

/** Shared by all copies of this package in a program. */
const BRAND = Symbol.for("@codexkit/store/StoreError");

/** The error class of this package. Other query failures are thrown as the driver reports them. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Whether a value is a `StoreError`, including one from another copy of this package. */
  static is(value: unknown): value is StoreError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}
