// A fake app-server on stdio for faults that the real one can't reproduce. Its behaviour is the first argument.
import { closeSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { FakeAction, FakeBehaviour } from "./behaviour.ts";

interface Incoming {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly threadId?: string };
  readonly result?: unknown;
  readonly error?: unknown;
}

const behaviour = JSON.parse(process.argv[2] ?? "{}") as FakeBehaviour;
let lines = 0;
let threads = 0;
let turns = 0;
let go = Promise.withResolvers<void>();

const reader = createInterface({ input: process.stdin });
reader.on("line", (line) => {
  lines += 1;
  if (behaviour.dieAfterLines !== undefined && lines > behaviour.dieAfterLines)
    process.kill(process.pid, "SIGKILL");
  void receive(JSON.parse(line) as Incoming);
});
reader.on("close", () => {
  if (!stdinClosedByUs) process.exit(0);
});
let stdinClosedByUs = false;

// Ends a fake whose owner has died. If the fake has closed its own stdin, nothing else would.
const ORPHAN_LIMIT_MS = 60_000;
setTimeout(() => process.exit(0), ORPHAN_LIMIT_MS).unref();

await play(behaviour.atStart ?? [], undefined);

async function receive(message: Incoming): Promise<void> {
  if (message.method === undefined) {
    print({
      method: "fake/answered",
      params: { id: message.id, result: message.result, error: message.error },
    });
    return;
  }
  if (message.method === "fake/go") {
    go.resolve();
    go = Promise.withResolvers();
    return;
  }
  const actions = behaviour.on?.[message.method];
  if (actions) await play(actions, message);
  else if (message.id !== undefined) print({ id: message.id, result: plausibleResult(message) });
}

async function play(actions: readonly FakeAction[], message: Incoming | undefined): Promise<void> {
  for (const action of actions) await act(action, message);
}

async function act(action: FakeAction, message: Incoming | undefined): Promise<void> {
  switch (action.do) {
    case "reply":
      print({ id: message?.id, result: action.result });
      return;
    case "replyWithStringId":
      print({ id: String(message?.id), result: action.result });
      return;
    case "error":
      print({ id: message?.id, error: { code: action.code, message: action.message } });
      return;
    case "notify":
      for (let count = 0; count < (action.times ?? 1); count += 1) {
        print({ method: action.method, params: action.params, emittedAtMs: Date.now() });
      }
      return;
    case "request":
      print({ id: action.id, method: action.method, params: action.params });
      return;
    case "print":
      write(action.text);
      return;
    case "hugeLine":
      print({ method: "fake/huge", params: { filler: "x".repeat(action.bytes) } });
      return;
    case "stderr":
      writeAll(2, action.text);
      return;
    case "closeStdin":
      stdinClosedByUs = true;
      process.stdin.destroy();
      // Closed explicitly, because Node keeps a destroyed stdin's descriptor open.
      closeSync(0);
      // Keeps the event loop alive, which nothing else does without stdin.
      setInterval(() => {}, ORPHAN_LIMIT_MS);
      return;
    case "closeStdout":
      process.stdout.destroy();
      return;
    case "waitForGo":
      await go.promise;
      return;
    case "exit":
      process.exit(action.code);
      break;
    case "kill":
      process.kill(process.pid, action.signal);
      return;
    case "nothing":
  }
}

function plausibleResult({ method, params }: Incoming): unknown {
  if (method === "initialize") {
    return { userAgent: "fake/0.166.0 (test)", codexHome: "/", platformFamily: "unix", platformOs: "linux" };
  }
  if (method === "thread/start") {
    threads += 1;
    return {
      thread: { id: `thread-${threads}`, turns: [], status: { type: "idle" } },
      model: "fake",
      cwd: "/",
    };
  }
  if (method === "turn/start") {
    turns += 1;
    const turn = {
      id: `turn-${turns}`,
      items: [],
      itemsView: "notLoaded",
      status: "inProgress",
      error: null,
    };
    return { turn, threadId: params?.threadId };
  }
  return {};
}

function print(message: object): void {
  write(`${JSON.stringify(message)}\n`);
}

/** Writes synchronously, so that output before an `exit` is not lost. */
function write(text: string): void {
  writeAll(1, text);
}

function writeAll(fd: number, text: string): void {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") process.exit(1);
    }
  }
}
