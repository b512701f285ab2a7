/** Limits of terminals. */
export interface TerminalLimits {
  /** Running terminals of this daemon. Default: 64. */
  readonly terminals: number;
  /** Terminals of one session, ended ones included. Default: 8. */
  readonly terminalsPerSession: number;
  /** Viewers of one terminal. Default: 16. */
  readonly viewers: number;
  /** Lines above the screen that are kept. Default: 1,000. */
  readonly scrollback: number;
  /** Bytes of output that are kept for viewers that come back or fall behind. Default: 1 MiB. */
  readonly replayBytes: number;
  /** Output that the emulator has not processed yet; above it, the program waits. Default: 512 KiB. */
  readonly unparsedBytes: number;
  /** Bytes on their way to one viewer. One that reads slowly gets no more, and a new screen later. Default: 256 KiB. */
  readonly unsentBytes: number;
  /** Bytes of one message of a viewer. Default: 64 KiB. */
  readonly messageBytes: number;
  /** Input that the program has not read yet; above it, the writer's messages wait. Default: 256 KiB. */
  readonly unreadInputBytes: number;
  /** How long the screen of an ended terminal stays readable, in milliseconds. Default: 300,000. */
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
