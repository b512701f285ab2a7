/** The connection that a stream uses at the moment. */
export interface StreamLink {
  send(frame: Uint8Array): Promise<void> | undefined;
  readonly bufferedBytes: number;
  /** Stops and continues reading, if the connection carries no other stream. */
  setPaused(isPaused: boolean): void;
  /** Closes the connection, if it carries no other stream. */
  close(): Promise<void>;
}
