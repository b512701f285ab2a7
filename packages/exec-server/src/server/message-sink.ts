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

/** A transport that also carries messages as bytes, so that they are not converted to text and back. */
export interface ByteTransport extends Transport {
  /** As `start`, for a reader of bytes. */
  startBytes(receiver: { message(bytes: Buffer): void; closed(cause?: Error): void }): void;
  /** As `Transport.send`. The caller may reuse a buffer as soon as this returns. */
  send(message: string | Uint8Array): Promise<void> | undefined;
  /** Bytes that the other side has not received yet, as far as this side knows. */
  readonly bufferedBytes: number;
  /** Sends the messages of this turn of the event loop now. */
  flush(): void;
}

export function isByteTransport(transport: Transport | ByteTransport): transport is ByteTransport {
  return "startBytes" in transport;
}

/** Sends whole messages over a transport. `cut` ends the connection of a client that can't be sent anything any more. */
export function transportSink(transport: Transport | ByteTransport, cut: () => void): MessageSink {
  const byteTransport = isByteTransport(transport) ? transport : undefined;
  let earlierPieces: Buffer[] = [];
  /** Messages whose transport has asked to wait. */
  let waiting = 0;
  let waitingBytes = 0;
  const send = (message: string | Buffer, onSent: () => void): void => {
    let sending: Promise<void> | undefined;
    try {
      sending = byteTransport ? byteTransport.send(message) : transport.send(String(message));
    } catch (error) {
      if (!(RpcError.is(error) && error.code === "closed")) cut();
      return;
    }
    // Never during `write`: the writer may have more pieces to send, and would call it again.
    if (!sending) return queueMicrotask(onSent);
    const { length } = message;
    waiting += 1;
    waitingBytes += length;
    void sending
      .catch(() => {})
      .finally(() => {
        waiting -= 1;
        waitingBytes -= length;
        onSent();
      });
  };
  return {
    write(piece, isLast, onSent) {
      if (isLast && earlierPieces.length === 0) return send(piece, onSent);
      // Bytes: a piece may end in the middle of a character.
      earlierPieces.push(Buffer.from(piece as string));
      if (!isLast) return queueMicrotask(onSent);
      const message = Buffer.concat(earlierPieces);
      earlierPieces = [];
      send(message, onSent);
    },
    cork: () => {},
    uncork: () => byteTransport?.flush(),
    get bufferedBytes() {
      // Nothing, unless the transport asks to wait: its promise is the only sign that there is room again.
      if (waiting === 0) return 0;
      return Math.max(waitingBytes, byteTransport?.bufferedBytes ?? 0);
    },
  };
}
