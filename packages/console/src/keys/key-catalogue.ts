/** A shortcut with its description and default keys. */
export interface KeyDefinition {
  /** Such as `j`, `Shift+A`, `g i` for a sequence, or `$mod+k` for Ctrl or Cmd. */
  readonly keys: string;
  readonly label: string;
  /** Also acts while a text field has the focus. */
  readonly inFields?: boolean;
}

/** All shortcuts of the page by scope and ID. IDs are stored in users' settings, so don't change them. */
export const KEY_CATALOGUE = {
  everywhere: {
    "app.palette": { keys: "$mod+k", label: "Search or command", inFields: true },
    "app.keys": { keys: "?", label: "Keyboard shortcuts" },
    "app.goInbox": { keys: "g i", label: "Inbox" },
    "app.goSessions": { keys: "g s", label: "Sessions" },
    "app.goUsage": { keys: "g u", label: "Usage" },
    "app.new": { keys: "c", label: "New session" },
    "app.search": { keys: "/", label: "Search sessions" },
    "app.previousSession": { keys: "[", label: "Previous session" },
    "app.nextSession": { keys: "]", label: "Next session" },
    "app.newestApproval": { keys: ".", label: "Newest approval" },
    "app.approval": { keys: "1-9", label: "The n-th open approval" },
  },
  list: {
    "list.next": { keys: "j", label: "Next session" },
    "list.previous": { keys: "k", label: "Previous session" },
    "list.down": { keys: "ArrowDown", label: "Next session" },
    "list.up": { keys: "ArrowUp", label: "Previous session" },
    "list.first": { keys: "g g", label: "First session" },
    "list.last": { keys: "Shift+G", label: "Last session" },
    "list.archive": { keys: "e", label: "Archive or restore" },
    "list.rename": { keys: "r", label: "Rename" },
    "list.pin": { keys: "p", label: "Pin" },
    "list.delete": { keys: "Delete", label: "Delete" },
    "inbox.next": { keys: "j", label: "Next request" },
    "inbox.previous": { keys: "k", label: "Previous request" },
  },
  transcript: {
    "transcript.next": { keys: "j", label: "Next row" },
    "transcript.previous": { keys: "k", label: "Previous row" },
    "transcript.nextTurn": { keys: "Shift+J", label: "Next turn" },
    "transcript.previousTurn": { keys: "Shift+K", label: "Previous turn" },
    "transcript.lastMessage": { keys: "u", label: "Last own message" },
    "transcript.toggle": { keys: "o", label: "Open or close the row" },
    "transcript.copy": { keys: "y", label: "Copy the row" },
    "transcript.fork": { keys: "f", label: "Fork after this turn" },
    "transcript.follow": { keys: "Shift+G", label: "Follow the end" },
    "transcript.compose": { keys: "i", label: "Write a message" },
    "panel.diff": { keys: "v d", label: "Panel: Diff" },
    "panel.plan": { keys: "v p", label: "Panel: Plan" },
    "panel.agents": { keys: "v a", label: "Panel: Agents" },
    "panel.terminal": { keys: "v t", label: "Panel: Terminal" },
    "panel.files": { keys: "v f", label: "Panel: Files" },
    "panel.usage": { keys: "v u", label: "Panel: Usage" },
    "panel.events": { keys: "v e", label: "Panel: Events" },
    "app.goTerminal": { keys: "g t", label: "Terminal" },
    "panel.close": { keys: "Escape", label: "Close the panel" },
  },
  approval: {
    "approval.once": { keys: "a", label: "Allow once" },
    "approval.session": { keys: "s", label: "Allow for the session" },
    "approval.always": { keys: "Shift+A", label: "Always…" },
    "approval.decline": { keys: "d", label: "Decline…" },
    "approval.diff": { keys: "o", label: "Show or hide the diff" },
  },
  diff: {
    "diff.nextHunk": { keys: "j", label: "Next hunk" },
    "diff.previousHunk": { keys: "k", label: "Previous hunk" },
    "diff.nextFile": { keys: "l", label: "Next file" },
    "diff.previousFile": { keys: "h", label: "Previous file" },
    "diff.nextLine": { keys: "ArrowDown", label: "Next line" },
    "diff.previousLine": { keys: "ArrowUp", label: "Previous line" },
    "diff.comment": { keys: "c", label: "Comment on the line" },
    "diff.viewed": { keys: "m", label: "Mark the file as viewed" },
    "diff.wrap": { keys: "w", label: "Wrap long lines" },
    "diff.split": { keys: "s", label: "Split into columns" },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, KeyDefinition>>>>;

/** Titles of the scopes, in the list of shortcuts and in the settings. */
export type KeyScope = keyof typeof KEY_CATALOGUE;

export type KeyId<Scope extends KeyScope = KeyScope> = Scope extends KeyScope
  ? keyof (typeof KEY_CATALOGUE)[Scope] & string
  : never;

export const KEY_SCOPES: Readonly<Record<KeyScope, string>> = {
  everywhere: "Everywhere",
  list: "Lists",
  transcript: "Transcript",
  approval: "Approval",
  diff: "Diff",
};
