import { startHeartbeat } from "@codexkit/rpc";
import { messageOf } from "@codexkit/rpc/async";
import type { RawData, WebSocket } from "ws";
import { terminalMessage } from "../api/terminal.ts";
import { DaemonError } from "../errors.ts";
import type { Terminal } from "../terminals/terminal.ts";
import type { Viewer, ViewerSocket } from "../terminals/viewer.ts";
import { toProblem } from "./problems.ts";
import { CLOSE, CLOSE_MS, Replies } from "./socket-liveness.ts";

export interface AttachOptions {
  readonly canWrite: boolean;
  readonly after: number | undefined;
  readonly heartbeatMs: number;
  readonly closing: AbortSignal;
}

/** Connects a WebSocket to a terminal until one of them ends. */
export function attachSocket(
  socket: WebSocket,
  terminal: Terminal,
  { canWrite, after, heartbeatMs, closing }: AttachOptions,
): void {
  // The `close` event follows. Without this listener, an invalid frame would end the process.
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
    // A client that does not read would prevent the server from closing.
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
  if (isBinary) throw new DaemonError("bad_request", "Messages must be JSON in text frames.");
  let value: unknown;
  try {
    value = JSON.parse((data as Buffer).toString());
  } catch (error) {
    throw new DaemonError("invalid_json", messageOf(error));
  }
  return terminalMessage.parse(value);
}

function sendProblem(socket: WebSocket, error: unknown, onSent: () => void = () => {}): void {
  socket.send(JSON.stringify({ type: "problem", problem: toProblem(error).problem }), onSent);
}
