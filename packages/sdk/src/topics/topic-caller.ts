import type { Caller } from "../connection/caller.ts";
import type { CodexError } from "../errors.ts";

/**
 * What a topic needs of a connection. Some waits end with a notification, and a server that is gone sends none: `onLost`
 * ends these waits. Without it they end by their signal or their limit.
 */
export interface TopicCaller extends Caller {
  /** Hears that the connection broke or was closed. */
  onLost?(listener: (error: CodexError) => void): Disposable;
}
