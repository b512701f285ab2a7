import { RpcError, type Transport } from "@codexkit/rpc";
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

/** Sends whole messages over a transport. `cut` ends the connection of a client that can't be sent anything any more. */
export function transportSink(transport: Transport, cut: () => void): MessageSink {
  let earlierPieces = "";
  let bufferedBytes = 0;
  const send = (message: string, onSent: () => void): void => {
    let sending: Promise<void> | undefined;
    try {
      sending = transport.send(message);
    } catch (error) {
      if (!(RpcError.is(error) && error.code === "closed")) cut();
      return;
    }
    // Never during `write`: the writer may have more pieces to send, and would call it again.
    if (!sending) return queueMicrotask(onSent);
    bufferedBytes += message.length;
    const done = (): void => {
      bufferedBytes -= message.length;
      onSent();
    };
    sending.then(done, done);
  };
  return {
    write(piece, isLast, onSent) {
      const message = earlierPieces + (typeof piece === "string" ? piece : piece.toString("utf8"));
      earlierPieces = isLast ? "" : message;
      if (isLast) send(message, onSent);
      else queueMicrotask(onSent);
    },
    cork: () => {},
    uncork: () => {},
    get bufferedBytes() {
      return bufferedBytes;
    },
  };
}
