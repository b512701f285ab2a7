import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WebSocket } from "ws";
import { startHeartbeat } from "./heartbeat.ts";

/** A socket whose peer may be dead. */
class Socket extends EventEmitter {
  isPaused = false;
  pings = 0;
  isTerminated = false;

  ping(): void {
    this.pings += 1;
  }

  terminate(): void {
    this.isTerminated = true;
  }
}

const socketOf = (socket: Socket): WebSocket => socket as unknown as WebSocket;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test.each(["pong", "message"])("a peer that sends a %s stays connected", (event) => {
  const socket = new Socket();
  startHeartbeat(socketOf(socket), 1_000);
  for (let second = 0; second < 5; second += 1) {
    vi.advanceTimersByTime(1_000);
    socket.emit(event);
  }
  expect(socket).toMatchObject({ pings: 5, isTerminated: false });
});

test("a silent peer is disconnected after the second interval", () => {
  const socket = new Socket();
  startHeartbeat(socketOf(socket), 1_000);
  vi.advanceTimersByTime(1_999);
  expect(socket).toMatchObject({ pings: 1, isTerminated: false });
  vi.advanceTimersByTime(1);
  expect(socket.isTerminated).toBe(true);
});

test("a paused socket is not checked, and gets a full interval when it resumes", () => {
  const socket = new Socket();
  startHeartbeat(socketOf(socket), 1_000);
  vi.advanceTimersByTime(1_000);
  socket.isPaused = true;
  vi.advanceTimersByTime(10_000);
  socket.isPaused = false;
  vi.advanceTimersByTime(1_000);
  expect(socket).toMatchObject({ pings: 2, isTerminated: false });
  vi.advanceTimersByTime(1_000);
  expect(socket.isTerminated).toBe(true);
});

test("stopping ends the pings and removes all listeners", () => {
  const socket = new Socket();
  startHeartbeat(socketOf(socket), 1_000)();
  vi.advanceTimersByTime(5_000);
  expect(socket).toMatchObject({ pings: 0, isTerminated: false });
  expect(socket.eventNames()).toEqual([]);
});
