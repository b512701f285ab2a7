import type { ScriptFunction } from "@codexkit/scripted-model";
import { codexFolders, createCodexHome } from "@codexkit/testing";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Database, openDatabase } from "../src/database.ts";
import { fleetLimits } from "../src/fleet/limits.ts";
import { createRunner } from "../src/sessions/create-runner.ts";
import type { Runner } from "../src/sessions/runner.ts";
import { prepareCodex } from "./parked-kinds.ts";
import { processesWith } from "./processes-with.ts";

/** A node takes over no sessions before it has held its lease for its whole duration. */
const SUCCESSOR = fleetLimits({
  leaseMs: 2_000,
  renewMs: 250,
  renewTimeoutMs: 1_000,
  freezeMs: 1_500,
  takeoverMs: 100,
});

/** Marks the processes of a daemon. */
const MARK = "CODEXKIT_TEST_DELIVERY";

const LIMITS = { retryMs: 50, claimMs: 50, appServerGraceMs: 20_000 };

/** A daemon in a child process. */
export interface DeliveringDaemon {
  /** Resolves when the daemon has stored an event of this type, or is `stalled`. */
  until(sessionId: string, type: string): Promise<void>;
  /** Kills the daemon and its watchdog. App-servers survive. */
  kill(): Promise<void>;
}

export interface DeliveryNode {
  readonly database: Database;
  readonly runner: Runner;
  close(): Promise<void>;
}

/** A store on which one daemon runs at a time, in this process or in a child process. */
export interface DeliveryStage extends AsyncDisposable {
  readonly workspace: string;
  /** Opens the store while no daemon uses it. */
  open(): Promise<Database>;
  /** Starts a daemon in this process. Nodes with different names don't share a Codex home. */
  start(nodeName: string): Promise<DeliveryNode>;
  /** Starts a daemon in a child process, whose deliveries stop at their moments. */
  boot(nodeName: string, moments: Readonly<Record<string, string>>): Promise<DeliveringDaemon>;
}

export async function startDeliveryStage(model: ScriptFunction, location: string): Promise<DeliveryStage> {
  await using made = new AsyncDisposableStack();
  const folders = made.use(await codexFolders({ model }));
  const env = Object.fromEntries(Object.entries(folders.env).filter(([, value]) => value !== undefined));
  const userCodexHome = join(folders.root, "none");
  const prepared = new Set<string>();
  const stateOf = async (nodeName: string): Promise<string> => {
    const stateFolder = join(folders.root, nodeName);
    if (!prepared.has(nodeName)) {
      prepared.add(nodeName);
      await createCodexHome(join(stateFolder, "codex"), folders);
      await prepareCodex(stateFolder);
    }
    return stateFolder;
  };
  const quiet = (): void => {};
  const owner = made.move();
  return {
    workspace: folders.workspace,
    open: () => openDatabase(location),
    start: async (nodeName) => {
      const stateFolder = await stateOf(nodeName);
      await using stack = new AsyncDisposableStack();
      const database = stack.use(await openDatabase(location, { leaseMs: SUCCESSOR.leaseMs }));
      const runner = stack.use(
        createRunner({
          database,
          stateFolder,
          nodeName,
          userCodexHome,
          codex: { inheritEnv: false, env },
          limits: LIMITS,
          fleet: SUCCESSOR,
          log: { info: quiet, warn: quiet, error: quiet },
        }),
      );
      await runner.start();
      const node = owner.use(stack.move());
      return { database, runner, close: () => node.disposeAsync() };
    },
    boot: async (nodeName, moments) => {
      const stateFolder = await stateOf(nodeName);
      const settings = {
        moments,
        stateFolder,
        store: location,
        userCodexHome,
        env,
        limits: LIMITS,
        nodeName,
      };
      const mark = randomUUID();
      const program = join(import.meta.dirname, "runner-program.ts");
      const child = spawn(
        process.execPath,
        ["--conditions=codexkit:source", program, JSON.stringify(settings)],
        { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, [MARK]: mark } },
      );
      const exited = once(child, "exit");
      owner.defer(() => void child.kill("SIGKILL"));
      const lines = new Set<string>();
      const waiting = new Map<string, () => void>();
      createInterface({ input: child.stdout }).on("line", (line) => {
        lines.add(line);
        waiting.get(line)?.();
      });
      return {
        until: (sessionId, type) =>
          new Promise((resolve) => {
            const line = `${type} ${sessionId}`;
            if (lines.has(line)) resolve();
            else waiting.set(line, resolve);
          }),
        kill: async () => {
          child.kill("SIGKILL");
          await exited;
          for (const pid of await processesWith(`${MARK}=${mark}`)) {
            const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
            // The keepers of app-servers continue.
            if (commandLine.includes("watchdog-program")) process.kill(pid, "SIGKILL");
          }
        },
      };
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}
