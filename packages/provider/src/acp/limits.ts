/** Every wait and buffer around an ACP agent. */
export interface AcpLimits {
  readonly initializeMs: number;
  readonly sessionMs: number;
  readonly cancelMs: number;
  readonly closeMs: number;
  readonly lastWordsMs: number;
  readonly earlyUpdates: number;
  readonly injectMs: number;
  readonly pendingToolMs: number;
  readonly listedPages: number;
  readonly reopenMs: number;
  readonly replayQuietMs: number;
  readonly replayMs: number;
}

export const ACP_LIMITS: AcpLimits = {
  // A package runner may have to fetch the agent first.
  initializeMs: 60_000,
  // Making or loading a session starts its MCP servers and reads its history.
  sessionMs: 60_000,
  // An agent ends its model's request and its tools; beyond this it does not heed cancelling.
  cancelMs: 5_000,
  // Freeing a session is a courtesy that nobody should wait for long.
  closeMs: 2_000,
  // A pipe breaks a moment before the exit code and the last words of its process are known.
  lastWordsMs: 500,
  // What an agent says of a session before it has answered that there is one: commands, mode, options.
  earlyUpdates: 256,
  // A turn that is about to begin takes a message as soon as its model was called.
  injectMs: 15_000,
  // A model may take this long to write the input of a tool, a file for example; the tool is shown without it then.
  pendingToolMs: 30_000,
  // Of the agent's list of sessions, when it refused to load one: enough for thousands.
  listedPages: 100,
  // Agents refuse a session for a moment after it ended, while they still write it.
  reopenMs: 3_000,
  // Some agents answer that a session is loaded, and then send its past: it has ended when nothing came for this long.
  replayQuietMs: 100,
  // A past that takes longer is shown in part.
  replayMs: 5_000,
};
