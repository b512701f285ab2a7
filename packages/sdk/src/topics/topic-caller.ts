import type { Caller } from "../connection/caller.ts";
import type { CodexError } from "../errors.ts";

/**
 * The connection that a topic uses. A wait for a notification needs `onLost`, because a lost server sends none. Without it, such
 * a wait ends only by its signal or timeout.
 */
export interface TopicCaller extends Caller {
  /** Calls the listener when the connection breaks or is closed. */
  onLost?(listener: (error: CodexError) => void): Disposable;
}
