import { ExecClient, type ExecProcessEnd, type RemoteProcess } from "@codexkit/exec-server/client";
import { fileURLToPath } from "node:url";

const EXTENSION = import.meta.url.endsWith(".ts") ? "ts" : "js";
const PROGRAM = fileURLToPath(new URL(`terminal-host-program.${EXTENSION}`, import.meta.url));

/**
 * Sets the size of the terminal, prints its device, and is replaced by the program. The exec-server protocol has no
 * call to resize a PTY, but `stty` can resize any terminal by its device.
 */
const START = 'stty rows "$1" cols "$2"; tty; shift 2; exec "$@"';

export interface HostedOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
  readonly onOutput: (bytes: Buffer) => void;
}

/** A program on a PTY. */
export interface HostedProgram {
  write(data: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  kill(): Promise<void>;
  /** Resolves when the program has ended and all its output has been received. Rejects if the host has ended. */
  readonly ended: Promise<ExecProcessEnd>;
}

/** The process that runs the programs of all terminals. It is started with the first terminal. */
export class TerminalHost implements AsyncDisposable {
  readonly #env: Readonly<Record<string, string>>;
  #client: Promise<ExecClient> | undefined;
  #isClosed = false;
  readonly #paused = new Set<object>();

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  async start({ command, cwd, env, columns, rows, onOutput }: HostedOptions): Promise<HostedProgram> {
    const client = await this.#open();
    const { promise: device, resolve: setDevice } = Promise.withResolvers<string>();
    const process = await client.start({
      argv: ["/bin/sh", "-c", START, "sh", String(rows), String(columns), ...command],
      cwd,
      env: { ...env },
      tty: true,
      onOutput: withoutFirstLine(setDevice, onOutput),
    });
    return new Program(client, process, device, this.#env);
  }

  /** Pauses reading the output of all programs while one of them produces more than can be processed. */
  pause(reason: object, isPaused: boolean): void {
    const wasPaused = this.#paused.size > 0;
    if (isPaused) this.#paused.add(reason);
    else this.#paused.delete(reason);
    if (this.#paused.size > 0 === wasPaused) return;
    // If the host has ended, there is nothing to pause.
    void this.#client?.then((client) => client.pauseReading(!wasPaused)).catch(() => {});
  }

  /** Ends all programs. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    await client?.pauseReading(false).catch(() => {});
    await client?.close();
  }

  async #open(): Promise<ExecClient> {
    if (this.#isClosed) throw new Error("The terminal host is closed.");
    this.#client ??= this.#launch();
    return this.#client;
  }

  async #launch(): Promise<ExecClient> {
    const launching = ExecClient.launch({
      command: process.execPath,
      args: [...(EXTENSION === "ts" ? ["--conditions=codexkit:source"] : []), PROGRAM],
      env: this.#env,
    });
    const forget = (): void => {
      this.#client = undefined;
      this.#paused.clear();
    };
    launching.then((client) => client.closed.then(forget), forget);
    return launching;
  }
}

class Program implements HostedProgram {
  readonly ended: Promise<ExecProcessEnd>;
  readonly #client: ExecClient;
  readonly #process: RemoteProcess;
  readonly #device: Promise<string>;
  readonly #env: Readonly<Record<string, string>>;

  constructor(
    client: ExecClient,
    process: RemoteProcess,
    device: Promise<string>,
    env: Readonly<Record<string, string>>,
  ) {
    this.#client = client;
    this.#process = process;
    this.#device = device;
    this.#env = env;
    this.ended = process.wait();
    // The terminal awaits it. This handles the case that no terminal is created.
    this.ended.catch(() => {});
  }

  async write(data: string): Promise<void> {
    // Otherwise, the echo of the input would be mixed into the first line.
    await Promise.race([this.#device, this.ended]);
    await this.#process.stdin.write(data);
  }

  async resize(columns: number, rows: number): Promise<void> {
    const device = await Promise.race([this.#device, this.ended]);
    if (typeof device !== "string") return;
    const argv = ["stty", "-F", device, "rows", String(rows), "cols", String(columns)] as [
      string,
      ...string[],
    ];
    await using resizing = await this.#client.start({ argv, cwd: "/", env: { ...this.#env } });
    const { exitCode, stderr } = await resizing.collect();
    if (exitCode !== 0) throw new Error(`stty failed: ${String(stderr).trim()}`);
  }

  async kill(): Promise<void> {
    await this.#process.kill().catch(() => {});
  }
}

/** Passes the first line to one function, and everything after it to another. */
function withoutFirstLine(
  onLine: (line: string) => void,
  onRest: (bytes: Buffer) => void,
): (output: { readonly bytes: Buffer }) => void {
  let line = "";
  let hasFirstLine = false;
  return ({ bytes }) => {
    if (hasFirstLine) return onRest(bytes);
    const end = bytes.indexOf("\n");
    line += bytes.subarray(0, end === -1 ? undefined : end).toString();
    if (end === -1) return;
    hasFirstLine = true;
    onLine(line.trim());
    if (end + 1 < bytes.length) onRest(bytes.subarray(end + 1));
  };
}
