import type { TerminalFrame, TerminalMessage } from "../api/terminal.ts";
import { isFinal, pause } from "./message-stream.ts";

export interface TerminalHandlers {
  /** Called with a complete screen. Reset the terminal, set its size, and write `screen` to it. */
  readonly onScreen: (screen: {
    readonly screen: string;
    readonly columns: number;
    readonly rows: number;
    readonly offset: number;
  }) => void;
  /** Called with output that follows the screen, without gaps. */
  readonly onOutput: (bytes: Uint8Array, offset: number) => void;
  /** Called when the writer changes. `isSelf` is true if it is this connection. */
  readonly onWriter?: (writer: { readonly viewerId: string | null; readonly isSelf: boolean }) => void;
  /** Called when a message was rejected, such as input without `takeWriter`. */
  readonly onProblem?: (problem: Extract<TerminalFrame, { type: "problem" }>["problem"]) => void;
  readonly onDisconnect?: () => void;
}

export interface AttachTerminalOptions extends TerminalHandlers {
  /** Offset of the output that is already known. Default: the connection starts with the screen. */
  readonly after?: number;
  /** Detaches when it aborts. The terminal keeps running. */
  readonly signal?: AbortSignal;
}

export interface TerminalConnectionDeps {
  readonly open: (after: number | undefined) => WebSocket;
  /** Rejects with the reason if the terminal can't be attached to. */
  readonly check: () => Promise<unknown>;
}

const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 10_000;

/** An attached terminal. It reconnects automatically and continues the output without a gap. */
export class TerminalConnection {
  /** Resolves to the exit code when the program has ended, or to undefined when detached. Rejects if it can't be attached to. */
  readonly ended: Promise<number | null | undefined>;
  readonly #deps: TerminalConnectionDeps;
  readonly #options: AttachTerminalOptions;
  #socket: WebSocket | undefined;
  #viewerId: string | undefined;
  #after: number | undefined;
  #wantsInput = false;

  /** @internal */
  constructor(deps: TerminalConnectionDeps, options: AttachTerminalOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#after = options.after;
    this.ended = this.#run();
    this.ended.catch(() => {});
  }

  /** Sends input. Ignored while reconnecting. */
  input(data: string): void {
    this.#send({ type: "input", data });
  }

  resize(columns: number, rows: number): void {
    this.#send({ type: "resize", columns, rows });
  }

  /** Becomes the writer, in place of another viewer if necessary. Needs the scope `write`. Repeated after a reconnect. */
  takeWriter(): void {
    this.#wantsInput = true;
    this.#send({ type: "takeWriter" });
  }

  releaseWriter(): void {
    this.#wantsInput = false;
    this.#send({ type: "releaseWriter" });
  }

  async #run(): Promise<number | null | undefined> {
    const { signal, onDisconnect } = this.#options;
    const isAborted = (): boolean => signal?.aborted === true;
    for (let failures = 0; !isAborted(); failures += 1) {
      const { end, wasAttached } = await this.#connect();
      if (end) return end.exitCode;
      if (isAborted()) return undefined;
      if (wasAttached) failures = 0;
      onDisconnect?.();
      await this.#deps.check().catch((error: unknown) => {
        if (isFinal(error)) throw error;
      });
      await pause(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures), signal);
    }
    return undefined;
  }

  /** Resolves when the connection has ended. */
  async #connect(): Promise<{ end?: { exitCode: number | null }; wasAttached: boolean }> {
    const { signal } = this.#options;
    const socket = this.#deps.open(this.#after);
    socket.binaryType = "arraybuffer";
    let end: { exitCode: number | null } | undefined;
    let wasAttached = false;
    const close = (): void => socket.close();
    signal?.addEventListener("abort", close, { once: true });
    await new Promise<void>((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        if (typeof data !== "string") return this.#receiveOutput(data as ArrayBuffer);
        const frame = JSON.parse(data) as TerminalFrame;
        if (frame.type === "attached") {
          wasAttached = true;
          this.#socket = socket;
        }
        if (frame.type === "ended") end = { exitCode: frame.exitCode };
        this.#receive(frame);
      });
      socket.addEventListener("error", () => {});
      socket.addEventListener("close", () => resolve());
    });
    signal?.removeEventListener("abort", close);
    this.#socket = undefined;
    return { ...(end && { end }), wasAttached };
  }

  #receive(frame: TerminalFrame): void {
    const { onScreen, onWriter, onProblem } = this.#options;
    switch (frame.type) {
      case "attached":
        this.#viewerId = frame.viewerId;
        onWriter?.({ viewerId: frame.writer, isSelf: false });
        if (this.#wantsInput) this.takeWriter();
        return;
      case "screen":
        this.#after = frame.offset;
        return onScreen(frame);
      case "writer": {
        const isSelf = frame.viewerId === this.#viewerId;
        // After another viewer has become the writer, this connection doesn't request it again on a reconnect.
        if (!isSelf) this.#wantsInput = false;
        return onWriter?.({ viewerId: frame.viewerId, isSelf });
      }
      case "problem":
        return onProblem?.(frame.problem);
      case "ended":
    }
  }

  #receiveOutput(message: ArrayBuffer): void {
    const offset = Number(new DataView(message).getBigUint64(0));
    const bytes = new Uint8Array(message, 8);
    this.#after = offset + bytes.byteLength;
    this.#options.onOutput(bytes, offset);
  }

  #send(message: TerminalMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}
