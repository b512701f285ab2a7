import "./require-node.ts";

// Errors.
export { DaemonError, type DaemonErrorCode, type DaemonErrorOptions } from "./errors.ts";
