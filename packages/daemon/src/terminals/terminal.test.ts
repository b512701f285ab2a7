import { expect, test } from "vitest";
import type { TerminalFrame } from "../api/terminal.ts";
import { TERMINAL_LIMITS } from "./limits.ts";
import { Terminal } from "./terminal.ts";
import type { HostedOptions, HostedProgram, TerminalHost } from "./terminal-host.ts";
import type { ViewerSocket } from "./viewer.ts";

/** A host whose program prints and reads on request of the test. */
class FakeHost {
  readonly reads: (() => void)[] = [];
  readonly pauses: boolean[] = [];
  print: HostedOptions["onOutput"] = () => {};

  async start({ onOutput }: HostedOptions): Promise<HostedProgram> {
    this.print = onOutput;
    return {
      write: () => new Promise<void>((resolve) => this.reads.push(resolve)),
      resize: async () => {},
      kill: async () => {},
      ended: new Promise(() => {}),
    };
  }

  pause(_: object, isPaused: boolean): void {
    if (this.pauses.at(-1) !== isPaused) this.pauses.push(isPaused);
  }
}

/** A connection that accepts nothing until the test requests it. */
class FakeSocket implements ViewerSocket {
  readonly frames: TerminalFrame[] = [];
  readonly sent: (() => void)[] = [];
  readonly pauses: boolean[] = [];
  unsentBytes = 0;

  send(frame: TerminalFrame, onSent?: () => void): void {
    this.frames.push(frame);
    if (onSent) this.sent.push(onSent);
  }

  sendOutput(_: number, bytes: Buffer, onSent: () => void): void {
    this.unsentBytes += bytes.length;
    this.sent.push(() => {
      this.unsentBytes -= bytes.length;
      onSent();
    });
  }

  pause(isPaused: boolean): void {
    this.pauses.push(isPaused);
  }

  end(): void {}
}

const OPTIONS = {
  sessionId: "session",
  by: "test",
  command: ["program"],
  cwd: "/",
  env: {},
  columns: 80,
  rows: 24,
} as const;

async function start(limits: Partial<typeof TERMINAL_LIMITS> = {}) {
  const host = new FakeHost();
  const terminal = await Terminal.start(OPTIONS, host as unknown as TerminalHost, {
    ...TERMINAL_LIMITS,
    ...limits,
  });
  const socket = new FakeSocket();
  const viewer = terminal.attach(socket, { canWrite: true, after: 0 });
  terminal.receive(viewer, { type: "takeWriter" });
  return { host, terminal, socket, viewer };
}

test("the writer waits while the program does not read", async () => {
  const { host, terminal, socket, viewer } = await start({ unreadInputBytes: 10 });
  for (let count = 0; count < 3; count += 1) terminal.receive(viewer, { type: "input", data: "12345" });
  expect(socket.pauses).toEqual([true]);
  while (socket.pauses.at(-1) !== false) {
    host.reads.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(socket.pauses).toEqual([true, false]);
});

test("the program waits while the emulator is behind, and no output is dropped before it was processed", async () => {
  const { host, terminal } = await start({ unparsedBytes: 100, replayBytes: 50 });
  for (let count = 0; count < 10; count += 1) host.print(Buffer.from("x".repeat(30)));
  expect(host.pauses).toEqual([false, true]);
  expect(terminal.log.start).toBe(0);
  expect((await terminal.snapshot()).offset).toBe(300);
  expect(host.pauses).toEqual([false, true, false]);
});

test("a connection that does not read buffers a bounded amount, and gets the screen when it reads again", async () => {
  const { host, terminal, socket } = await start({ unsentBytes: 1000, replayBytes: 2000 });
  for (let count = 0; count < 100; count += 1) {
    host.print(Buffer.from("y".repeat(500)));
    await terminal.snapshot();
  }
  expect(socket.unsentBytes).toBe(1000);
  expect(socket.frames.filter(({ type }) => type === "screen")).toEqual([]);
  socket.sent.shift()?.();
  const { offset } = await terminal.snapshot();
  expect(offset).toBe(50_000);
  expect(socket.frames.at(-1)).toMatchObject({ type: "screen", offset: 50_000 });
});

test("a connection that does not read gets only the last change of the writer", async () => {
  const { host, terminal, socket, viewer } = await start({ unsentBytes: 1000 });
  host.print(Buffer.from("y".repeat(1000)));
  const before = socket.frames.length;
  const other = terminal.attach(new FakeSocket(), { canWrite: true, after: 0 });
  for (let count = 0; count < 100; count += 1) {
    terminal.receive(other, { type: "takeWriter" });
    terminal.receive(viewer, { type: "takeWriter" });
  }
  terminal.receive(other, { type: "takeWriter" });
  expect(socket.frames).toHaveLength(before);
  for (const onSent of socket.sent.splice(0)) onSent();
  expect(socket.frames.slice(before)).toEqual([{ type: "writer", viewerId: other.id }]);
});

test("output that follows a screen that a slow connection has not taken is sent afterwards", async () => {
  const { host, terminal } = await start({ unsentBytes: 1000 });
  const socket = new FakeSocket();
  terminal.attach(socket, { canWrite: false, after: undefined });
  await terminal.snapshot();
  expect(socket.frames.at(-1)).toMatchObject({ type: "screen" });
  socket.unsentBytes = 5000;
  host.print(Buffer.from("last"));
  expect(socket.sent).toHaveLength(1);
  socket.unsentBytes = 0;
  socket.sent.shift()?.();
  expect(socket.unsentBytes).toBe("last".length);
});

test("killing a program whose end is never reported gives up after a while", async () => {
  const { terminal } = await start({ killMs: 10 });
  await terminal.kill();
  expect(terminal.end).toEqual({ exitCode: null });
});
