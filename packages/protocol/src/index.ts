// The wire format of Codex's app-server as types and tables, generated from the pinned release.

// Method tables, and the method names as values.
export {
  CLIENT_REQUEST_METHODS,
  CODEX_VERSION,
  EXPERIMENTAL_REQUEST_METHODS,
  SERVER_NOTIFICATION_METHODS,
  SERVER_REQUEST_METHODS,
} from "./generated/tables.ts";
export type {
  ClientNotifications,
  ClientRequests,
  ServerNotifications,
  ServerRequests,
} from "./generated/tables.ts";

// The two ends of an app-server connection, for a peer.
export type { ClientWire, ServerWire } from "./ends.ts";

// All generated types: `v2.ThreadItem`, `v1.InitializeResponse`. `v2` is the current protocol; `v1` contains the shared types.
export type * as v1 from "./generated/index.ts";
export type * as v2 from "./generated/v2/index.ts";
export type { JsonValue } from "./generated/serde_json/JsonValue.ts";
