// Stops the app-servers of a daemon that hangs and can't renew its lease, and ends the app-servers of a daemon that has died. This
// is a separate process, because a daemon that hangs can't do either.
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

/** Interval of the ticks, as a fraction of `freezeMs`. */
const TICK = 0.01;

type Start = Extract<WatchdogMessage, { type: "start" }>;

const processes = new Map<number, ProcessIdentity>();
let start: Start | undefined;
let state: WatchdogState | undefined;

// Signals from a terminal are meant for the daemon.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
// Writing fails once the daemon has died.
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
  // The daemon died before it sent the first message.
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
      // If there is a newer boot, it has attached to the app-servers or ended them, and has its own watchdog.
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
