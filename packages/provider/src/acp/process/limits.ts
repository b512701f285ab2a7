/** Time and buffer limits for an ACP agent. */
export interface AcpLimits {
  readonly initializeMs: number;
  readonly sessionMs: number;
  readonly cancelMs: number;
  readonly closeMs: number;
  readonly exitStatusMs: number;
  readonly earlyUpdates: number;
  readonly injectMs: number;
  readonly pendingToolMs: number;
  readonly listedPages: number;
  readonly reopenMs: number;
  readonly replayQuietMs: number;
  readonly replayMs: number;
  readonly unstoredSessions: number;
}

export const ACP_LIMITS: AcpLimits = {
  // A package runner may have to download the agent first.
  initializeMs: 60_000,
  // Creating or loading a session starts its MCP servers and reads its history.
  sessionMs: 60_000,
  // An agent aborts its model request and its tools. After this time it is considered unresponsive.
  cancelMs: 5_000,
  // Closing a session only frees memory of the agent.
  closeMs: 2_000,
  // A pipe closes shortly before the exit code and the last stderr output are known.
  exitStatusMs: 500,
  // Updates of a session that arrive before the response with its id: commands, mode, options.
  earlyUpdates: 256,
  // An agent accepts a message once the turn has started.
  injectMs: 15_000,
  // A model may need this long to write the input of a tool, such as a file. After that the tool is reported without input.
  pendingToolMs: 30_000,
  // Pages of the agent's session list that are searched when it refuses to load a session.
  listedPages: 100,
  // Agents refuse to load a session for a moment after it ended, while they still write it.
  reopenMs: 3_000,
  // Some agents send the history after the response to session/load. It is complete when no update arrives for this long.
  replayQuietMs: 100,
  // A longer replay is cut off.
  replayMs: 5_000,
  // Sessions that ended before their first output stay open, because the agent has not stored them yet.
  unstoredSessions: 16,
};
