import type { ServerNotifications, v2 } from "@codexkit/protocol";
import type { RawMessage } from "../events/event.ts";

/** Limit of distinct messages. A server repeats the same ones for every thread. */
const MESSAGES = 64;

/** Collects the warnings about a server's configuration. Receives every notification, because they arrive during the handshake. */
export class WarningLog {
  readonly #messages = new Set<string>();
  #rulesError: string | undefined;

  /** `codex exec` is a new process per turn, so every turn emits them. */
  get messages(): readonly string[] {
    return [...this.#messages];
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
        else if (isEmitted(summary)) this.#add(details ? `${summary} (${details})` : summary);
        break;
      }
      case "warning": {
        const { threadId, message } = params as ServerNotifications[typeof method];
        // Warnings about a thread are among its events.
        if (threadId === null) this.#add(message);
        break;
      }
      default:
    }
  }

  #add(message: string): void {
    if (this.#messages.size < MESSAGES) this.#messages.add(message);
  }
}

const RULES_NOT_APPLIED = "Error parsing rules";

/** Startup warnings of the server that `codex exec --json` does not emit, or emits in another form. */
const NOT_EMITTED = [
  "Codex could not find bubblewrap",
  "Codex's Linux sandbox uses bubblewrap",
  "Project-local config, hooks, and exec policies are disabled",
  // `codex exec` fails to start. The server rejects the request for its configuration.
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
