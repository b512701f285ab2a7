// Stops the app-servers of a daemon that can't renew its lease because it hangs, and ends those of one that has died. A process of its
// own, because nothing in a daemon that hangs can do that.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { machineClock } from "./clock.ts";
import { isRunning, type ProcessIdentity, signalProcess } from "./signal-process.ts";
import type { WatchdogMessage } from "./watchdog-message.ts";
import {
  startWatchdog,
  stepWatchdog,
  type WatchdogAction,
  type WatchdogEvent,
  type WatchdogState,
} from "./watchdog.ts";

/** Of the time until the app-servers are stopped: how often it looks at the clock. */
const TICK = 0.01;

type Start = Extract<WatchdogMessage, { type: "start" }>;

const processes = new Map<number, ProcessIdentity>();
let start: Start | undefined;
let state: WatchdogState | undefined;

// The signals of a terminal are for the daemon.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
// A daemon that has died reads nothing any more.
process.stdout.on("error", () => {});

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  receive(JSON.parse(line) as WatchdogMessage);
  process.stdout.write("\n");
});
lines.once("close", () => step({ type: "orphaned", at: machineClock() }));

function receive(message: WatchdogMessage): void {
  const at = machineClock();
  switch (message.type) {
    case "start":
      start = message;
      state = startWatchdog(message.renewedAt);
      setInterval(
        () => step({ type: "tick", at: machineClock() }),
        Math.max(1, message.limits.freezeMs * TICK),
      );
      break;
    case "add":
      for (const other of processes.values()) if (!isRunning(other)) processes.delete(other.pid);
      processes.set(message.process.pid, message.process);
      if (state?.frozenAt !== undefined) signalProcess(message.process, "SIGSTOP");
      break;
    case "renewed":
      step({ type: "renewed", sentAt: message.sentAt, at });
      break;
    case "fenced":
      step({ type: "fenced", at });
      break;
    case "end":
      process.exit();
  }
}

function step(event: WatchdogEvent): void {
  // The daemon has died before it said anything.
  if (!start || !state) process.exit();
  const next = stepWatchdog(state, event, start.limits);
  state = next.state;
  for (const action of next.actions) act(action, start);
}

function act(action: WatchdogAction, { nodeId, bootFile }: Start): void {
  switch (action) {
    case "freeze":
      signalAll("SIGSTOP");
      break;
    case "thaw":
      signalAll("SIGCONT");
      break;
    case "kill":
      signalAll("SIGKILL");
      break;
    case "kill_orphans":
      // A newer boot has attached to them, or ended them, and has a watchdog of its own.
      if (readBoot(bootFile) === nodeId) signalAll("SIGKILL");
      process.exit();
  }
}

function signalAll(signal: NodeJS.Signals): void {
  for (const identity of processes.values()) signalProcess(identity, signal);
}

function readBoot(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
