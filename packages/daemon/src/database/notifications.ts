/**
 * Keys of the notifier, for waiting without polling. A notification is a hint to look into the store; every function that
 * changes rows notifies the keys below by itself, after the commit.
 */
export const notificationKeys = {
  /** Events were appended to the session. `Journal.follow` does the waiting for most callers. */
  journal: (sessionId: string): string => `journal:${sessionId}`,
  /** A command was submitted to the session. */
  commands: (sessionId: string): string => `commands:${sessionId}`,
  /** The command was finished. */
  command: (commandId: string): string => `command:${commandId}`,
  /** The approval was answered, delivered, withdrawn or expired. */
  approval: (approvalId: string): string => `approval:${approvalId}`,
  /** A session without an owner has something to do. */
  ready: "ready",
  /** A session was added, or a column that lists show was changed. */
  sessions: "sessions",
  /** An approval was opened or changed. */
  inbox: "inbox",
  /** The token was revoked. */
  token: (tokenId: string): string => `token:${tokenId}`,
  /** A message for a webhook was stored. */
  webhooks: "webhooks",
} as const;
