import type { ServerNotifications } from "@codexkit/protocol";
import type { RawMessage } from "../events/event.ts";

const LIMITS = {
  /** Distinct messages about the configuration. A server repeats the same ones for every thread. */
  general: 64,
  /** Messages about one thread whose events have no reader yet. */
  perThread: 64,
  /** Threads without a reader, such as those of subagents, whose messages are kept. */
  threads: 1024,
} as const;

/**
 * Warnings that arrive before a turn has a reader for its events. The server sends those about its configuration with the
 * handshake, and those about a thread before it answers `thread/resume`, so this log receives every notification.
 */
export class NoticeLog {
  readonly #general = new Set<string>();
  /** By thread id, oldest thread first. */
  readonly #unclaimed = new Map<string, string[]>();
  readonly #claimed = new Set<string>();

  /** Messages about the configuration. `codex exec` is a new process per turn, so every turn shows them. */
  get general(): readonly string[] {
    return [...this.#general];
  }

  receive({ method, params }: RawMessage): void {
    switch (method) {
      case "configWarning":
      case "deprecationNotice": {
        const { summary, details } = params as ServerNotifications[typeof method];
        if (isShown(summary)) this.#addGeneral(details ? `${summary} (${details})` : summary);
        break;
      }
      case "warning": {
        const { threadId, message } = params as ServerNotifications[typeof method];
        if (threadId === null) this.#addGeneral(message);
        else if (!this.#claimed.has(threadId)) this.#addUnclaimed(threadId, message);
        break;
      }
      default:
    }
  }

  /** Returns what was said of a thread so far. From now on its own events carry its warnings. */
  claim(threadId: string): readonly string[] {
    const messages = this.#unclaimed.get(threadId) ?? [];
    this.#unclaimed.delete(threadId);
    this.#claimed.add(threadId);
    return messages;
  }

  /** The events of the thread have no reader any more. */
  release(threadId: string): void {
    this.#claimed.delete(threadId);
  }

  #addGeneral(message: string): void {
    if (this.#general.size < LIMITS.general) this.#general.add(message);
  }

  #addUnclaimed(threadId: string, message: string): void {
    const messages = this.#unclaimed.get(threadId) ?? [];
    if (messages.length < LIMITS.perThread) this.#unclaimed.set(threadId, [...messages, message]);
    const [oldest] = this.#unclaimed.keys();
    if (this.#unclaimed.size > LIMITS.threads && oldest !== undefined) this.#unclaimed.delete(oldest);
  }
}

/** The server warns of the machine, too; `codex exec --json` does not. */
function isShown(summary: string): boolean {
  return !summary.includes("bubblewrap");
}
