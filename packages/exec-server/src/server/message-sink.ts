import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { WebSocket } from "ws";

/** The sending side of a transport: takes messages, whole or in consecutive pieces. */
export interface MessageSink {
  /** Sends a piece of a message. Does nothing once the transport has closed. */
  write(piece: string | Buffer, isLast: boolean): void;
  /** Holds written data back until `uncork`, so that it leaves in one system call. */
  cork(): void;
  uncork(): void;
  /** Bytes that the transport has accepted but not sent yet. */
  readonly bufferedBytes: number;
  onDrain(listener: () => void): void;
}

/** Sends each piece as a frame. `ws` writes the frames; the socket is used for flow control alone. */
export function webSocketSink(webSocket: WebSocket, socket: Socket): MessageSink {
  return {
    write(piece, isLast) {
      if (webSocket.readyState === WebSocket.OPEN) webSocket.send(piece, { binary: false, fin: isLast });
    },
    cork: () => socket.cork(),
    uncork: () => socket.uncork(),
    get bufferedBytes() {
      return webSocket.bufferedAmount;
    },
    onDrain: (listener) => void socket.on("drain", listener),
  };
}

/** Sends one message per line. */
export function lineSink(stream: Writable): MessageSink {
  return {
    write(piece, isLast) {
      if (!stream.writable) return;
      stream.write(piece);
      if (isLast) stream.write("\n");
    },
    cork: () => stream.cork(),
    uncork: () => stream.uncork(),
    get bufferedBytes() {
      return stream.writableLength;
    },
    onDrain: (listener) => void stream.on("drain", listener),
  };
}
