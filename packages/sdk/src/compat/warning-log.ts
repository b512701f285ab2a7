import type { ServerNotifications, v2 } from "@codexkit/protocol";
import { BoundedMap } from "@codexkit/rpc/async";
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
 * Collects warnings that are received before a turn has a reader for its events. The server sends those about its configuration
 * with the handshake, and those about a thread before it responds to `thread/resume`, so this log receives every notification.
 */
export class WarningLog {
  readonly #general = new Set<string>();
  /** Messages by thread id. */
  readonly #unclaimed = new BoundedMap<string, string[]>(LIMITS.threads);
  readonly #claimed = new Set<string>();
  #rulesError: string | undefined;

  /** Messages about the configuration. `codex exec` is a new process per turn, so every turn emits them. */
  get general(): readonly string[] {
    return [...this.#general];
  }

  /** The error in the rules for commands. The server continues without them; `codex exec` fails. */
  get rulesError(): string | undefined {
    return this.#rulesError;
  }

  receive({ method, params }: RawMessage): void {
    switch (method) {
      case "configWarning":
      case "deprecationNotice": {
        const { summary, details } = params as ServerNotifications[typeof method];
        if (summary.startsWith(RULES_NOT_APPLIED))
          this.#rulesError = formatRulesError(params as v2.ConfigWarningNotification);
        else if (isEmitted(summary)) this.#addGeneral(details ? `${summary} (${details})` : summary);
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

  /** Returns the warnings about a thread so far. Later ones are delivered by its own events. */
  claim(threadId: string): readonly string[] {
    const messages = this.#unclaimed.get(threadId) ?? [];
    this.#unclaimed.delete(threadId);
    this.#claimed.add(threadId);
    return messages;
  }

  /** Call this when the events of the thread have no reader any more. */
  release(threadId: string): void {
    this.#claimed.delete(threadId);
  }

  #addGeneral(message: string): void {
    if (this.#general.size < LIMITS.general) this.#general.add(message);
  }

  #addUnclaimed(threadId: string, message: string): void {
    const messages = this.#unclaimed.get(threadId) ?? [];
    if (messages.length < LIMITS.perThread) this.#unclaimed.set(threadId, [...messages, message]);
  }
}

const RULES_NOT_APPLIED = "Error parsing rules";

/** Startup warnings of the server that `codex exec --json` does not emit, or emits in another form. */
const NOT_EMITTED = [
  "Codex could not find bubblewrap",
  "Codex's Linux sandbox uses bubblewrap",
  "Project-local config, hooks, and exec policies are disabled",
  // Exec fails to start. This server rejects the request for the configuration.
  "Invalid configuration; using defaults",
];

function isEmitted(summary: string): boolean {
  return !NOT_EMITTED.some((start) => summary.startsWith(start));
}

/** Formats the error as `codex exec` does. */
function formatRulesError({ summary, details, path, range }: v2.ConfigWarningNotification): string {
  const [problem = summary] = (details ?? summary)
    .replace(/^failed to parse rules file .*?: /, "")
    .split("\n");
  const line = range?.start.line;
  const location = path === undefined ? "" : line === undefined ? `${path}: ` : `${path}:${line}: `;
  return `${location}${problem}${line === undefined ? "" : ` (problem is on or around line ${line})`}`;
}
