/** Why a listener is called: its key was notified, or a poll is due in case a notification was lost. */
export type Hint = "notified" | "poll";

/**
 * Carries hints between the processes that share a store. A hint means "check now". It has no content, and
 * may arrive twice, late, or without a change.
 */
export interface Notifier {
  /**
   * Calls the listeners for these keys, here and in other processes. Never throws; polling makes up for a
   * lost hint.
   */
  notify(keys: Iterable<string>): void;
  subscribe(key: string, listener: (hint: Hint) => void): Disposable;
  /**
   * `local`: all listeners are in this process. `listening`: hints from other processes arrive. `polling`:
   * they don't arrive, so listeners are called more often.
   */
  readonly mode: "local" | "listening" | "polling";
}
