/** Counters of one end of a relay. They can be read at any time, for example for metrics. */
export interface RelayCounters {
  streamsOpened: number;
  streamsEnded: number;
  /** Streams that moved to a new connection. */
  streamsResumed: number;
  /** Handshakes that were malformed, not authentic, premature or repeated. */
  handshakesFailed: number;
  /** Handshakes whose authorization was refused, or could not be validated in time. */
  handshakesUnauthorized: number;
  /** Handshakes beyond the limits of streams or validations. */
  handshakesOverLimit: number;
  /** Frames that are malformed or belong to no stream. */
  framesInvalid: number;
  /** Copies of data frames that were received before. */
  framesDuplicate: number;
  /** Data frames that were sent again. */
  framesRetransmitted: number;
  /** Streams that this end reset because the other one violated the protocol or a limit. */
  streamsReset: number;
}

export function createCounters(): RelayCounters {
  return {
    streamsOpened: 0,
    streamsEnded: 0,
    streamsResumed: 0,
    handshakesFailed: 0,
    handshakesUnauthorized: 0,
    handshakesOverLimit: 0,
    framesInvalid: 0,
    framesDuplicate: 0,
    framesRetransmitted: 0,
    streamsReset: 0,
  };
}
