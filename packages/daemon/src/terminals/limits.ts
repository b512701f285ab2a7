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
  /** Number of output bytes kept for viewers that reconnect or fall behind. Default: 1 MiB. */
  readonly replayBytes: number;
  /**
   * Number of output bytes that the terminal emulator has not processed yet above which the program is paused. Default:
   * 512 KiB.
   */
  readonly unparsedBytes: number;
  /** Maximum unsent bytes per viewer. A slower viewer gets no more output, and a new screen later. Default: 256 KiB. */
  readonly unsentBytes: number;
  /** Maximum bytes per message from a viewer. Default: 64 KiB. */
  readonly messageBytes: number;
  /**
   * Number of input bytes that the program has not read yet above which further messages of the writer wait. Default:
   * 256 KiB.
   */
  readonly unreadInputBytes: number;
  /** How long ending a terminal waits for its last output and exit code, in milliseconds. Default: 10,000. */
  readonly killMs: number;
  /** How long the screen of an ended terminal remains readable, in milliseconds. Default: 300,000. */
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
  killMs: 10_000,
  endedMs: 300_000,
};
