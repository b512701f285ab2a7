import type { StreamFrame } from "@codexkit/daemon/client";

/** A message from the page to the worker that reads the stream. */
export type FeedRequest =
  /** Watches exactly these sessions, each from an event on. */
  | { readonly type: "watch"; readonly sessions: Readonly<Record<string, number>> }
  /** Connects, or reconnects immediately. */
  | { readonly type: "connect" }
  /** Closes the connection and keeps the cursor. */
  | { readonly type: "pause" }
  /** The page has rendered all reported frames, and the next ones can be sent. */
  | { readonly type: "applied" };

/** A message from the worker to the page. */
export type FeedReport =
  /** Frames that arrived together, with consecutive deltas of one text merged. The page answers `applied`. */
  | { readonly type: "frames"; readonly frames: readonly StreamFrame[] }
  | { readonly type: "connected" }
  | { readonly type: "disconnected" }
  /** The daemon refused the request. `resync`: the cursor is invalid, and the next connection starts without one. */
  | { readonly type: "refused"; readonly status: number; readonly resync: boolean };
