import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { WebSocket } from "ws";

/** The sending side of a transport: takes messages, whole or in consecutive pieces. */
export interface MessageSink {
  /**
   * Sends a piece of a message; `onSent` is called once the transport has passed it on. Does nothing once the transport
   * has closed.
   */
  write(piece: string | Buffer, isLast: boolean, onSent: () => void): void;
  /** Holds written data back until `uncork`, so that it leaves in one system call. */
  cork(): void;
  uncork(): void;
  /** Bytes that the transport has accepted but not sent yet. */
  readonly bufferedBytes: number;
}

/** Sends each piece as a frame. `ws` writes the frames; the socket is used for flow control alone. */
export function webSocketSink(webSocket: WebSocket, socket: Socket): MessageSink {
  return {
    write(piece, isLast, onSent) {
      if (webSocket.readyState !== WebSocket.OPEN) return;
      webSocket.send(piece, { binary: false, fin: isLast }, onSent);
    },
    cork: () => socket.cork(),
    uncork: () => socket.uncork(),
    get bufferedBytes() {
      return webSocket.bufferedAmount;
    },
  };
}

/** Sends one message per line. */
export function lineSink(stream: Writable): MessageSink {
  return {
    write(piece, isLast, onSent) {
      if (!stream.writable) return;
      stream.write(piece, onSent);
      if (isLast) stream.write("\n");
    },
    cork: () => stream.cork(),
    uncork: () => stream.uncork(),
    get bufferedBytes() {
      return stream.writableLength;
    },
  };
}
