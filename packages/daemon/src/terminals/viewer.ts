import type { TerminalFrame } from "../api/terminal.ts";
import type { OutputLog } from "./output-log.ts";
import type { ScreenSnapshot } from "./screen.ts";

/** The connection of a viewer. */
export interface ViewerSocket {
  send(frame: TerminalFrame, onSent?: () => void): void;
  sendOutput(offset: number, bytes: Buffer, onSent: () => void): void;
  /** Number of bytes that were sent but not written to the network yet. */
  readonly unsentBytes: number;
  /** Pauses or resumes receiving. */
  pause(isPaused: boolean): void;
  end(): void;
}

/** The source of a viewer's output. */
export interface ViewerSource {
  readonly log: OutputLog;
  snapshot(): Promise<ScreenSnapshot>;
  /** Undefined while the program is running. */
  readonly end: { readonly exitCode: number | null } | undefined;
}

const CHUNK_BYTES = 32 * 1024;

/**
 * Sends the output to one connection, as fast as the connection accepts it. A viewer has no buffer: one that falls
 * behind the log receives the screen instead of the missed output.
 */
export class Viewer {
  readonly id: string;
  readonly canWrite: boolean;
  readonly socket: ViewerSocket;
  readonly #source: ViewerSource;
  readonly #unsentBytes: number;
  /** Undefined until the next screen has been sent. */
  #position: number | undefined;
  #isPreparing = false;
  /** The new writer, if it has not been sent yet. */
  #writer: { readonly viewerId: string | null } | undefined;
  #hasEnded = false;

  constructor(
    {
      id,
      canWrite,
      socket,
      after,
    }: Pick<Viewer, "id" | "canWrite" | "socket"> & { after?: number | undefined },
    source: ViewerSource,
    unsentBytes: number,
  ) {
    this.id = id;
    this.canWrite = canWrite;
    this.socket = socket;
    this.#position = after;
    this.#source = source;
    this.#unsentBytes = unsentBytes;
  }

  /** Sends the screen again, for example after a resize. */
  requestScreen(): void {
    this.#position = undefined;
    this.pump();
  }

  /** Reports a new writer. If several changes wait for a slow connection, only the last one is sent. */
  reportWriter(viewerId: string | null): void {
    this.#writer = { viewerId };
    this.pump();
  }

  /** Sends as much as the connection accepts now. Called again when the connection has accepted it. */
  pump(): void {
    const { log, end } = this.#source;
    while (!this.#hasEnded && !this.#isPreparing && this.socket.unsentBytes < this.#unsentBytes) {
      if (this.#writer) {
        this.socket.send({ type: "writer", ...this.#writer });
        this.#writer = undefined;
        continue;
      }
      const offset = this.#position;
      if (offset === undefined) {
        void this.#sendScreen();
        return;
      }
      if (offset === log.end) {
        if (end) this.#end(end.exitCode);
        return;
      }
      const bytes = log.read(offset, CHUNK_BYTES);
      this.#position = bytes && offset + bytes.length;
      if (bytes) this.socket.sendOutput(offset, bytes, () => this.pump());
    }
  }

  /** Stops sending. */
  stop(): void {
    this.#hasEnded = true;
  }

  async #sendScreen(): Promise<void> {
    this.#isPreparing = true;
    const snapshot = await this.#source.snapshot();
    this.#isPreparing = false;
    if (this.#hasEnded) return;
    this.#position = snapshot.offset;
    this.socket.send({ type: "screen", ...snapshot }, () => this.pump());
    this.pump();
  }

  #end(exitCode: number | null): void {
    this.#hasEnded = true;
    this.socket.send({ type: "ended", exitCode });
    this.socket.end();
  }
}
