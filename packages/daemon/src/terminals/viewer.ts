import type { TerminalFrame } from "../api/terminal.ts";
import type { OutputLog } from "./output-log.ts";
import type { ScreenSnapshot } from "./screen.ts";

/** The connection of a viewer. */
export interface ViewerSocket {
  send(frame: TerminalFrame, onSent?: () => void): void;
  sendOutput(offset: number, bytes: Buffer, onSent: () => void): void;
  /** Bytes that were sent and not written to the network yet. */
  readonly unsentBytes: number;
  /** Stops or resumes receiving. */
  pause(isPaused: boolean): void;
  end(): void;
}

/** What a viewer reads. */
export interface ViewerSource {
  readonly log: OutputLog;
  snapshot(): Promise<ScreenSnapshot>;
  /** Undefined while it is running. */
  readonly end: { readonly exitCode: number | null } | undefined;
}

const CHUNK_BYTES = 32 * 1024;

/**
 * Sends the output to one connection, as fast as that takes it. It holds no output of its own: a viewer that falls behind the log
 * gets the screen instead of what it has missed.
 */
export class Viewer {
  readonly id: string;
  readonly canWrite: boolean;
  readonly socket: ViewerSocket;
  readonly #source: ViewerSource;
  readonly #unsentBytes: number;
  /** Undefined until the next screen was sent. */
  #position: number | undefined;
  #isPreparing = false;
  /** Who has the input, if that was not sent yet. */
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

  /** The screen is sent again, such as after a change of its size. */
  requestScreen(): void {
    this.#position = undefined;
    this.pump();
  }

  /** Of several changes that wait for a slow connection, only the last one is sent. */
  reportWriter(viewerId: string | null): void {
    this.#writer = { viewerId };
    this.pump();
  }

  /** Sends what the connection takes now. Called again when it has taken it. */
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

  /** No more is sent. */
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
