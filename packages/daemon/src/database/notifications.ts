/**
 * Keys of the notifier, which are used to wait without polling. A notification is a hint to query the store. Every
 * function that changes rows sends the notifications below after the commit.
 */
export const notificationKeys = {
  /** Events were appended to the session. Most callers use `Journal.follow` to wait for them. */
  journal: (sessionId: string): string => `journal:${sessionId}`,
  /** A command was submitted to the session. */
  commands: (sessionId: string): string => `commands:${sessionId}`,
  /** The command was finished. */
  command: (commandId: string): string => `command:${commandId}`,
  /** The approval was answered, delivered, withdrawn or expired. */
  approval: (approvalId: string): string => `approval:${approvalId}`,
  /** A session without an owner has work. */
  ready: "ready",
  /** A session was added, or a column that lists contain was changed. */
  sessions: "sessions",
  /** An approval was opened or changed. */
  inbox: "inbox",
  /** The token was revoked. */
  token: (tokenId: string): string => `token:${tokenId}`,
  /** A message for a webhook was stored. */
  webhooks: "webhooks",
} as const;
