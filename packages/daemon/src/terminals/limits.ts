/** Limits of terminals. */
export interface TerminalLimits {
  /** Maximum running terminals of this daemon. Default: 64. */
  readonly terminals: number;
  /** Maximum terminals per session, including ended ones. Default: 8. */
  readonly terminalsPerSession: number;
  /** Maximum viewers per terminal. Default: 16. */
  readonly viewers: number;
  /** Number of lines kept above the screen. Default: 1,000. */
  readonly scrollback: number;
  /** Bytes of output kept for viewers that reconnect or fall behind. Default: 1 MiB. */
  readonly replayBytes: number;
  /** Bytes of output that the terminal emulator has not processed yet, above which the program is paused. Default: 512 KiB. */
  readonly unparsedBytes: number;
  /** Unsent bytes per viewer. A viewer that reads more slowly gets no more output, and a new screen later. Default: 256 KiB. */
  readonly unsentBytes: number;
  /** Maximum bytes per message of a viewer. Default: 64 KiB. */
  readonly messageBytes: number;
  /** Bytes of input that the program has not read yet, above which further messages of the writer wait. Default: 256 KiB. */
  readonly unreadInputBytes: number;
  /** How long the screen of an ended terminal can still be read, in milliseconds. Default: 300,000. */
  readonly endedMs: number;
}

export const TERMINAL_LIMITS: TerminalLimits = {
  terminals: 64,
  terminalsPerSession: 8,
  viewers: 16,
  scrollback: 1000,
  replayBytes: 1024 * 1024,
  unparsedBytes: 512 * 1024,
  unsentBytes: 256 * 1024,
  messageBytes: 64 * 1024,
  unreadInputBytes: 256 * 1024,
  endedMs: 300_000,
};
