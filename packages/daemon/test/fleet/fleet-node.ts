import { SerialQueue } from "@codexkit/rpc/async";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { DaemonOptions } from "../../src/daemon-options.ts";
import { processesWith } from "../processes-with.ts";
import { FaultProxy } from "./fault-proxy.ts";
import type { NodeSettings } from "./fleet-node-program.ts";
import { killProcessesWith, sendSignal } from "./kill-processes.ts";

/** The environment variable that identifies all processes of a node. */
const MARK = "CODEXKIT_FLEET_NODE";

const PROGRAM = join(import.meta.dirname, "fleet-node-program.ts");

/** How many lines of the log are kept. */
const KEPT_LINES = 5_000;

export interface AppServerProcess {
  readonly pid: number;
  /** Whether it was stopped with SIGSTOP. */
  readonly isStopped: boolean;
}

export interface FleetNodeOptions {
  readonly name: string;
  /** Identifies the node's processes. Unique on this machine. */
  readonly mark: string;
  /** Returns the daemon's options, given the port at which other nodes reach it. */
  readonly options: (peerPort: number) => DaemonOptions;
  /** The daemon's temporary folder. */
  readonly temp: string;
  /** Between the daemon and Postgres. */
  readonly storeProxy: FaultProxy | undefined;
}

/** Where the daemon listens. */
interface NodeAddress {
  port: number | undefined;
}

/** A daemon in its own process group, which can be stopped, killed and disconnected. Its address stays the same. */
export class FleetNode implements AsyncDisposable {
  readonly name: string;
  /** Between the daemon and Postgres. */
  readonly storeProxy: FaultProxy | undefined;
  /** Between the other nodes and the daemon. */
  readonly peerProxy: FaultProxy;
  readonly log: string[] = [];
  readonly #actions = new SerialQueue();
  readonly #given: FleetNodeOptions;
  /** Between the clients and the daemon. */
  readonly #front: FaultProxy;
  readonly #address: NodeAddress;
  #child: ChildProcess | undefined;

  private constructor(
    given: FleetNodeOptions,
    address: NodeAddress,
    front: FaultProxy,
    peerProxy: FaultProxy,
  ) {
    this.#address = address;
    this.name = given.name;
    this.#given = given;
    this.storeProxy = given.storeProxy;
    this.#front = front;
    this.peerProxy = peerProxy;
  }

  static async create(given: FleetNodeOptions): Promise<FleetNode> {
    const address: NodeAddress = { port: undefined };
    const target = () => (address.port === undefined ? undefined : { port: address.port, host: "127.0.0.1" });
    return new FleetNode(given, address, await FaultProxy.start(target), await FaultProxy.start(target));
  }

  /** The URL for clients. */
  get url(): string {
    return `http://127.0.0.1:${this.#front.port}`;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async start(more: DaemonOptions = {}): Promise<void> {
    const { options, temp, mark } = this.#given;
    const settings: NodeSettings = { port: 0, options: { ...options(this.peerProxy.port), ...more } };
    const child = spawn(
      process.execPath,
      ["--conditions=codexkit:source", PROGRAM, JSON.stringify(settings)],
      {
        stdio: ["pipe", "pipe", "pipe"],
        detached: true,
        env: { ...process.env, TMPDIR: temp, [MARK]: mark },
      },
    );
    this.#child = child;
    createInterface({ input: child.stderr }).on("line", (line) => {
      this.log.push(line);
      if (this.log.length > KEPT_LINES) this.log.shift();
    });
    child.once("exit", () => {
      if (this.#child === child) this.#address.port = undefined;
    });
    const ended = new AbortController();
    const url = once(createInterface({ input: child.stdout }), "line", { signal: ended.signal });
    const exit = once(child, "exit", { signal: ended.signal }).then(([code, signal]) => {
      const log = this.log.slice(-20).join("\n");
      throw new Error(`The node ${this.name} ended with ${String(code ?? signal)}:\n${log}`);
    });
    const [line] = (await Promise.race([url, exit])) as [string];
    exit.catch(() => {});
    ended.abort();
    this.#address.port = Number(new URL(line).port);
  }

  /** Kills the daemon's process. Its app-servers and helper processes keep running. */
  async killDaemon(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Kills the daemon and every process that it has started, as a crash of its machine does. */
  async killAll(): Promise<void> {
    const child = this.#child;
    const exited = child && this.isRunning ? once(child, "exit") : undefined;
    await killProcessesWith(`${MARK}=${this.#given.mark}`);
    await exited;
  }

  /** Runs actions on this node one at a time. */
  exclusively<Value>(action: () => Promise<Value>): Promise<Value> {
    return this.#actions.run(action);
  }

  /** Shuts the daemon down gracefully. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** Suspends the daemon's process, but no other process of the node. */
  pause(): void {
    this.signal("SIGSTOP");
  }

  resume(): void {
    this.signal("SIGCONT");
  }

  /** Ends all faults of the node and its network, and starts it if it is not running. */
  async heal(): Promise<void> {
    if (this.storeProxy) this.storeProxy.mode = "pass";
    this.peerProxy.mode = "pass";
    this.resume();
    if (!this.isRunning) await this.start();
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child?.kill(signal);
  }

  /** IDs of the node's running processes. */
  async processes(): Promise<readonly number[]> {
    return processesWith(`${MARK}=${this.#given.mark}`);
  }

  /** The processes of the node's app-servers. */
  async appServers(): Promise<readonly AppServerProcess[]> {
    const found = await Promise.all(
      (await this.processes()).map(async (pid) => {
        const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
        if (!command.includes("app-server\0--listen")) return [];
        const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
        return [{ pid, isStopped: /\) T /.test(status) }];
      }),
    );
    return found.flat();
  }

  /** Suspends the app-servers that are not frozen already, and continues these after the wait. */
  async stopAppServers(wait: () => Promise<void>): Promise<void> {
    const running = (await this.appServers()).filter(({ isStopped }) => !isStopped);
    for (const { pid } of running) sendSignal(pid, "SIGSTOP");
    await wait();
    for (const { pid } of running) sendSignal(pid, "SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killAll();
    await this.#front[Symbol.asyncDispose]();
    await this.peerProxy[Symbol.asyncDispose]();
    await this.storeProxy?.[Symbol.asyncDispose]();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || !this.isRunning) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
}
