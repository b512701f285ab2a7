import { NdjsonTransport, type Transport, type TransportReceiver } from "@codexkit/rpc";
import { withTimeout } from "@codexkit/rpc/async";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { ExecError } from "../errors.ts";
import type { ClientLimits } from "../limits.ts";

export interface LaunchCommand {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Number of characters of a launched server's stderr that are kept for error messages. */
const STDERR_TAIL = 2_000;

/**
 * A server that runs as a child process and is connected over stdio. Closing the transport stops the child.
 */
export class LaunchTransport implements Transport {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: NdjsonTransport;
  readonly #exited: Promise<void>;
  readonly #limits: ClientLimits;
  #stderr = "";

  private constructor(child: ChildProcessWithoutNullStreams, limits: ClientLimits) {
    this.#limits = limits;
    this.#child = child;
    this.#lines = new NdjsonTransport({ input: child.stdout, output: child.stdin });
    child.stderr.on("data", (bytes: Buffer) => {
      this.#stderr = (this.#stderr + String(bytes)).slice(-STDERR_TAIL);
    });
    this.#exited = new Promise((resolve) => child.once("close", () => resolve()));
  }

  static async start(
    { command, args = [], cwd, env }: LaunchCommand,
    limits: ClientLimits,
  ): Promise<LaunchTransport> {
    const child = spawn(command, args, {
      cwd,
      env: env ?? process.env,
      stdio: "pipe",
      detached: true,
    });
    const transport = new LaunchTransport(child, limits);
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (cause) =>
        reject(new ExecError("launch_failed", `Could not start ${command}: ${cause.message}.`, { cause })),
      );
    });
    return transport;
  }

  start(receiver: TransportReceiver): void {
    this.#lines.start({
      ...receiver,
      text: (message) => receiver.text(message),
      malformed: (error) => receiver.malformed(error),
      closed: (cause) => {
        const stderr = this.#stderr.trim();
        receiver.closed(
          cause ?? new Error(stderr === "" ? "The server exited." : `The server exited: ${stderr}`),
        );
      },
    });
  }

  send(message: string): Promise<void> | undefined {
    return this.#lines.send(message);
  }

  pause(): void {
    this.#lines.pause();
  }

  resume(): void {
    this.#lines.resume();
  }

  /** Closes the server's stdin, then sends SIGTERM and SIGKILL to its whole process group. */
  async close(): Promise<void> {
    await this.#lines.close();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await this.#exitsWithin(this.#limits.stopTimeoutMs)) return;
      this.#kill(signal);
    }
    await this.#exited;
  }

  async #exitsWithin(timeoutMs: number): Promise<boolean> {
    const exited = this.#exited.then(() => true);
    return withTimeout(
      exited,
      timeoutMs,
      () => new ExecError("timeout", "The server is still running."),
    ).catch(() => false);
  }

  #kill(signal: NodeJS.Signals): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    } catch {
      // It has already exited.
    }
  }
}
