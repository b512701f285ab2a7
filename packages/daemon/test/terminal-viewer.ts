import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { TerminalFrame, TerminalMessage } from "../src/api/terminal.ts";
import { Screen } from "../src/terminals/screen.ts";

/** A viewer with its own terminal emulator, like a browser. */
export class TestViewer implements AsyncDisposable {
  readonly frames: TerminalFrame[] = [];
  readonly socket: WebSocket;
  screen = new Screen({ columns: 80, rows: 24, scrollback: 1000 });
  /** Offset of the newest byte. */
  offset = 0;
  screens = 0;
  /** The output since the newest screen, as text. */
  text = "";
  #changed = Promise.withResolvers<void>();
  #screenOffset = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.#receiveOutput(data);
      else this.#receive(JSON.parse(String(data)) as TerminalFrame);
      this.#wake();
    });
    socket.on("close", () => this.#wake());
  }

  /** Connects. Rejects with the status if the connection was refused. */
  static async connect(url: string, headers: Record<string, string>): Promise<TestViewer> {
    const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
    const viewer = new TestViewer(socket);
    await Promise.race([
      once(socket, "open"),
      once(socket, "unexpected-response").then((args: unknown[]) => {
        socket.on("error", () => {});
        socket.terminate();
        throw new Error(`Refused: ${(args[1] as IncomingMessage).statusCode}`);
      }),
    ]);
    return viewer;
  }

  send(message: TerminalMessage): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Waits until a condition holds. Rejects if the connection ends first. */
  async until(isDone: (viewer: TestViewer) => boolean): Promise<void> {
    while (!isDone(this)) {
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error("The connection has ended.");
      await this.#changed.promise;
    }
  }

  async untilFrame<Type extends TerminalFrame["type"]>(
    type: Type,
  ): Promise<Extract<TerminalFrame, { type: Type }>> {
    const find = (): TerminalFrame | undefined => this.frames.find((frame) => frame.type === type);
    await this.until(() => find() !== undefined);
    return find() as Extract<TerminalFrame, { type: Type }>;
  }

  /** The screen as this viewer sees it. */
  async drawn(): Promise<string> {
    return (await this.screen.snapshot()).screen;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
    this.screen[Symbol.dispose]();
  }

  #receive(frame: TerminalFrame): void {
    this.frames.push(frame);
    if (frame.type !== "screen") return;
    const { columns, rows, offset, screen } = frame;
    this.screen = new Screen({ columns, rows, scrollback: 1000 });
    this.screen.write(Buffer.from(screen), () => {});
    this.screens += 1;
    this.text = screen;
    this.offset = offset;
    this.#screenOffset = offset;
  }

  #receiveOutput(data: Buffer): void {
    const offset = Number(data.readBigUInt64BE(0));
    if (this.#screenOffset > 0 || this.offset > 0) {
      if (offset !== this.offset) throw new Error(`Expected output at ${this.offset}, got it at ${offset}.`);
    }
    const bytes = data.subarray(8);
    this.offset = offset + bytes.length;
    this.text = (this.text + bytes.toString("latin1")).slice(-200_000);
    this.screen.write(bytes, () => {});
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
