import type { RawData, WebSocket } from "ws";
import { terminalMessage } from "../api/terminal.ts";
import { DaemonError } from "../errors.ts";
import type { Terminal } from "../terminals/terminal.ts";
import type { Viewer, ViewerSocket } from "../terminals/viewer.ts";
import { toProblem } from "./problems.ts";

const CLOSE = { normal: 1000, goingAway: 1001, refused: 1008 } as const;

/** How long a client has to close its side when the daemon closes. */
const CLOSE_MS = 1000;

/** Problems and pongs that wait for a client to read them. */
const MAX_UNSENT_REPLIES = 1000;

export interface AttachOptions {
  readonly canWrite: boolean;
  readonly after: number | undefined;
  readonly heartbeatMs: number;
  readonly closing: AbortSignal;
}

/** Connects a WebSocket with a terminal until one of them ends. */
export function attachSocket(
  socket: WebSocket,
  terminal: Terminal,
  { canWrite, after, heartbeatMs, closing }: AttachOptions,
): void {
  // `close` follows. One that is refused may still send what is not a message.
  socket.on("error", () => {});
  let viewer: Viewer;
  try {
    viewer = terminal.attach(toViewerSocket(socket), { canWrite, after });
  } catch (error) {
    sendProblem(socket, error);
    socket.close(CLOSE.refused);
    return;
  }
  let terminating: NodeJS.Timeout | undefined;
  const close = (): void => {
    socket.close(CLOSE.goingAway);
    // A client that does not read would keep the server from closing.
    terminating = setTimeout(() => socket.terminate(), CLOSE_MS);
  };
  closing.addEventListener("abort", close, { once: true });
  if (closing.aborted) close();
  const stopHeartbeat = startHeartbeat(socket, heartbeatMs);
  const replies = new Replies(socket);
  socket.on("ping", (data) => replies.add((onSent) => socket.pong(data, false, onSent)));
  socket.on("message", (data: RawData, isBinary: boolean) => {
    try {
      terminal.receive(viewer, parseMessage(data, isBinary));
    } catch (error) {
      replies.add((onSent) => sendProblem(socket, error, onSent));
    }
  });
  socket.on("close", () => {
    stopHeartbeat();
    clearTimeout(terminating);
    closing.removeEventListener("abort", close);
    terminal.detach(viewer);
  });
}

function toViewerSocket(socket: WebSocket): ViewerSocket {
  return {
    get unsentBytes() {
      return socket.bufferedAmount;
    },
    send: (frame, onSent) =>
      socket.send(JSON.stringify(frame), (error) => {
        if (!error) onSent?.();
      }),
    sendOutput: (offset, bytes, onSent) => {
      const message = Buffer.allocUnsafe(8 + bytes.length);
      message.writeBigUInt64BE(BigInt(offset), 0);
      bytes.copy(message, 8);
      socket.send(message, (error) => {
        if (!error) onSent();
      });
    },
    pause: (isPaused) => {
      if (socket.readyState !== socket.OPEN || socket.isPaused === isPaused) return;
      if (isPaused) socket.pause();
      else socket.resume();
    },
    end: () => socket.close(CLOSE.normal),
  };
}

function parseMessage(data: RawData, isBinary: boolean) {
  if (isBinary) throw new DaemonError("bad_request", "Messages are JSON, as text.");
  let value: unknown;
  try {
    value = JSON.parse((data as Buffer).toString());
  } catch (error) {
    throw new DaemonError("invalid_json", error instanceof Error ? error.message : String(error));
  }
  return terminalMessage.parse(value);
}

function sendProblem(socket: WebSocket, error: unknown, onSent: () => void = () => {}): void {
  socket.send(JSON.stringify({ type: "problem", problem: toProblem(error).problem }), onSent);
}

/** Ends a connection whose client causes replies and does not read them: they would fill the memory. */
class Replies {
  readonly #socket: WebSocket;
  #unsent = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  add(send: (onSent: () => void) => void): void {
    if (this.#unsent >= MAX_UNSENT_REPLIES) return this.#socket.terminate();
    this.#unsent += 1;
    send(() => {
      this.#unsent -= 1;
    });
  }
}

/** Terminates connections whose client has disappeared. A paused one is not pinged, because its pong would wait as well. */
function startHeartbeat(socket: WebSocket, everyMs: number): () => void {
  let hasAnswered = true;
  socket.on("pong", () => {
    hasAnswered = true;
  });
  const timer = setInterval(() => {
    if (socket.isPaused) return;
    if (!hasAnswered) return socket.terminate();
    hasAnswered = false;
    socket.ping();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
