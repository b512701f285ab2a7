import type { ServerNotifications, v2 } from "@codexkit/protocol";
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
  #rulesError: string | undefined;

  /** Messages about the configuration. `codex exec` is a new process per turn, so every turn shows them. */
  get general(): readonly string[] {
    return [...this.#general];
  }

  /** What is wrong with the rules about commands. The server goes on without them; `codex exec` refuses to. */
  get rulesError(): string | undefined {
    return this.#rulesError;
  }

  receive({ method, params }: RawMessage): void {
    switch (method) {
      case "configWarning":
      case "deprecationNotice": {
        const { summary, details } = params as ServerNotifications[typeof method];
        if (summary.startsWith(RULES_NOT_APPLIED))
          this.#rulesError = rulesError(params as v2.ConfigWarningNotification);
        else if (isShown(summary)) this.#addGeneral(details ? `${summary} (${details})` : summary);
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

const RULES_NOT_APPLIED = "Error parsing rules";

/** What the server says of its start and `codex exec --json` does not, or says in another way. */
const NOT_SHOWN = [
  "Codex could not find bubblewrap",
  "Codex's Linux sandbox uses bubblewrap",
  "Project-local config, hooks, and exec policies are disabled",
  // Exec refuses to start; so does this server when it is asked for the configuration.
  "Invalid configuration; using defaults",
];

function isShown(summary: string): boolean {
  return !NOT_SHOWN.some((start) => summary.startsWith(start));
}

/** The report of `codex exec` about the same rules. */
function rulesError({ summary, details, path, range }: v2.ConfigWarningNotification): string {
  const [problem = summary] = (details ?? summary)
    .replace(/^failed to parse rules file .*?: /, "")
    .split("\n");
  const line = range?.start.line;
  const place = path === undefined ? "" : line === undefined ? `${path}: ` : `${path}:${line}: `;
  return `${place}${problem}${line === undefined ? "" : ` (problem is on or around line ${line})`}`;
}
