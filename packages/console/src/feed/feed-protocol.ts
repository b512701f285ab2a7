import type { StreamFrame } from "@codexkit/daemon/client";

/** What the page asks of the worker that reads the stream. */
export type FeedRequest =
  /** Watches exactly these sessions, each after an event. */
  | { readonly type: "watch"; readonly sessions: Readonly<Record<string, number>> }
  /** Connects, or connects again at once. */
  | { readonly type: "connect" }
  /** Closes the connection and keeps the cursor. */
  | { readonly type: "pause" }
  /** All frames that were reported are on screen, and the next ones may come. */
  | { readonly type: "applied" };

/** What the worker reports. */
export type FeedReport =
  /** Frames that arrived together, with consecutive deltas of one text merged. The page answers `applied`. */
  | { readonly type: "frames"; readonly frames: readonly StreamFrame[] }
  | { readonly type: "connected" }
  | { readonly type: "disconnected" }
  /** The daemon refuses the request. `resync`: the cursor is lost, and the next connection starts without one. */
  | { readonly type: "refused"; readonly status: number; readonly resync: boolean };
