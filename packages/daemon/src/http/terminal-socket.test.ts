import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import type { Terminal } from "../terminals/terminal.ts";
import { attachSocket } from "./terminal-socket.ts";

/** A connection whose client only reads when the test requests it. */
class FakeSocket extends EventEmitter {
  readonly unsent: (() => void)[] = [];
  isPaused = false;
  isTerminated = false;

  send(_: string, onSent: () => void): void {
    this.unsent.push(onSent);
  }

  pong(_: Buffer, _isMasked: boolean, onSent: () => void): void {
    this.unsent.push(onSent);
  }

  terminate(): void {
    this.isTerminated = true;
    this.emit("close");
  }
}

function attach(): FakeSocket {
  const socket = new FakeSocket();
  const terminal = { attach: () => ({}), detach: () => {} };
  attachSocket(socket as unknown as WebSocket, terminal as unknown as Terminal, {
    canWrite: false,
    after: undefined,
    heartbeatMs: 60_000,
    closing: new AbortController().signal,
  });
  return socket;
}

const CAUSES = {
  "messages that are refused": (socket: FakeSocket) => socket.emit("message", Buffer.from("{"), false),
  pings: (socket: FakeSocket) => socket.emit("ping", Buffer.alloc(0)),
};

test.each(Object.entries(CAUSES))("a client that sends %s and reads nothing is disconnected", (_, send) => {
  const socket = attach();
  for (let count = 0; count < 5000 && !socket.isTerminated; count += 1) send(socket);
  expect(socket.isTerminated).toBe(true);
  expect(socket.unsent).toHaveLength(1000);
});

test.each(Object.entries(CAUSES))("a client that sends %s and reads the replies stays", (_, send) => {
  const socket = attach();
  for (let count = 0; count < 5000; count += 1) {
    send(socket);
    if (count % 500 === 0) for (const onSent of socket.unsent.splice(0)) onSent();
  }
  expect(socket.isTerminated).toBe(false);
  socket.terminate();
});
