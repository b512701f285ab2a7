/** Why a listener is called: its key was notified, or a poll is due, in case a notification was lost. */
export type Hint = "notified" | "poll";

/**
 * Carries hints between the processes that share a store. A hint means "look now": it may arrive twice, late, or without a
 * change, and has no content.
 */
export interface Notifier {
  /** Calls the listeners of these keys, here and in other processes. Never throws; a poll replaces a lost hint. */
  notify(keys: Iterable<string>): void;
  subscribe(key: string, listener: (hint: Hint) => void): Disposable;
  /**
   * local: all listeners are in this process. listening: hints of other processes arrive. polling: they don't arrive, so that
   * listeners are called more often.
   */
  readonly mode: "local" | "listening" | "polling";
}
