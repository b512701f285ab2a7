import { RpcError, type Transport } from "@codexkit/rpc";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { WebSocket } from "ws";

/** The sending side of a transport. Accepts messages in one piece or in consecutive pieces. */
export interface MessageSink {
  /**
   * Sends a piece of a message. `onSent` is called once the transport has passed it on. No-op after the
   * transport has closed.
   */
  write(piece: string | Buffer, isLast: boolean, onSent: () => void): void;
  /** Holds written data back until `uncork`, so that it is sent in one system call. */
  cork(): void;
  uncork(): void;
  /** Bytes that the transport has accepted but not sent yet. */
  readonly bufferedBytes: number;
}

/** Sends each piece as a frame. `ws` writes the frames; the socket is used only for flow control. */
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
  /** Like `start`, for a receiver of bytes. */
  startBytes(receiver: { message(bytes: Buffer): void; closed(cause?: Error): void }): void;
  /** Like `Transport.send`. The caller may reuse a buffer as soon as this returns. */
  send(message: string | Uint8Array): Promise<void> | undefined;
  /** Bytes that the other side has not received yet, as far as this side knows. */
  readonly bufferedBytes: number;
  /** Sends the messages of this event-loop turn immediately. */
  flush(): void;
}

export function isByteTransport(transport: Transport | ByteTransport): transport is ByteTransport {
  return "startBytes" in transport;
}

/**
 * Sends whole messages over a transport. `cut` closes the connection of a client to which nothing more can be
 * sent.
 */
export function transportSink(transport: Transport | ByteTransport, cut: () => void): MessageSink {
  const byteTransport = isByteTransport(transport) ? transport : undefined;
  let earlierPieces: Buffer[] = [];
  /** Number of messages for which the transport has asked to wait. */
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
    // Never during `write`, because the writer may have more pieces to send and would call it again.
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
      // Kept as bytes, because a piece may end in the middle of a character.
      earlierPieces.push(Buffer.from(piece as string));
      if (!isLast) return queueMicrotask(onSent);
      const message = Buffer.concat(earlierPieces);
      earlierPieces = [];
      send(message, onSent);
    },
    cork: () => {},
    uncork: () => byteTransport?.flush(),
    get bufferedBytes() {
      // Returns nothing unless the transport asks to wait. Its promise is the only sign that there is room
      // again.
      if (waiting === 0) return 0;
      return Math.max(waitingBytes, byteTransport?.bufferedBytes ?? 0);
    },
  };
}
