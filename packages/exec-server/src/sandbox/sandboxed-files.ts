import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { LineSplitter } from "@codexkit/rpc";
import type { BlockFile, BlockMode } from "../files/block-file.ts";
import { EXEC_LIMITS, type ServerLimits } from "../limits.ts";
import { inheritedDescriptors } from "../process/inherited-descriptors.ts";
import { jsonLine } from "../wire/json-line.ts";
import { CODES, Refusal } from "../wire/refusal.ts";

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

interface HelperReply {
  readonly id: number;
  readonly result?: unknown;
  /** A result that consists of bytes, in base64. */
  readonly bytes?: string;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The first line that a helper prints, in place of a response. */
const HELPER_STARTED: HelperReply = { id: -1 };

/** File operations in one sandbox, done by a helper program that serves many of them. */
export class SandboxedFiles implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #exited: Promise<void>;
  readonly #started = Promise.withResolvers<void>();
  readonly #onIdle: () => void;
  readonly #callTimeoutMs: number;
  #openFiles = 0;
  #nextId = 0;
  #stderr = "";
  #hasExited = false;

  /**
   * @param onIdle Called whenever the last pending call is answered or the last open file is closed, and at
   * the end.
   */
  constructor(
    bwrap: string,
    args: readonly string[],
    { limits, onIdle }: { limits: Pick<ServerLimits, "sandboxHelperCallTimeoutMs">; onIdle: () => void },
  ) {
    this.#onIdle = onIdle;
    this.#callTimeoutMs = limits.sandboxHelperCallTimeoutMs;
    const stdio: StdioOptions = ["pipe", "pipe", "pipe", ...coveredDescriptors()];
    this.#child = spawn(bwrap, args, { stdio, detached: true, env: helperEnv() });
    const lines = new LineSplitter(EXEC_LIMITS.fileBytes * 2, (line) =>
      this.#answer(JSON.parse(line) as HelperReply),
    );
    this.#child.stdout?.on("data", (bytes: Buffer) => lines.push(bytes));
    this.#child.stderr?.on("data", (bytes: Buffer) => {
      this.#stderr = (this.#stderr + String(bytes)).slice(-1_000);
    });
    this.#child.stdin?.on("error", () => {});
    this.#exited = new Promise((resolve) => {
      this.#child.once("error", () => this.#onExit(resolve));
      this.#child.once("close", () => this.#onExit(resolve));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Resolves when the helper accepts calls, or has exited. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Whether calls are pending or files are open. The helper must not be stopped then. */
  get isBusy(): boolean {
    return !this.#hasExited && this.#pending.size + this.#openFiles > 0;
  }

  call(method: string, params: unknown): Promise<unknown> {
    if (this.#hasExited) return Promise.reject(this.#failure());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#kill(), this.#callTimeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#child.stdin?.write(jsonLine({ id, method, params }, bytesAsBase64));
    });
  }

  /**
   * Opens a file in the sandbox. Its number is unique in the helper, regardless of the ids that clients
   * choose.
   */
  async openFile(path: string, mode: BlockMode): Promise<BlockFile> {
    const handle = this.#nextId++;
    await this.call("fs/open", { handle, path, mode });
    this.#openFiles += 1;
    let isOpen = true;
    return {
      read: async (offset, len) => {
        const bytes = (await this.call("fs/readBlock", { handle, offset, len })) as Buffer;
        return { bytes, eof: bytes.length < len };
      },
      write: async (offset, bytes) => {
        await this.call("fs/writeBlock", { handle, offset, chunk: bytes.toString("base64") });
      },
      close: async () => {
        if (!isOpen) return;
        isOpen = false;
        this.#openFiles -= 1;
        await this.call("fs/close", { handle });
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kill();
    await this.#exited;
  }

  /** Kills the whole group. Killing only bubblewrap could leave the helper running if `--die-with-parent` is not set up yet. */
  #kill(): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // It has exited.
    }
  }

  #answer({ id, result, bytes, error }: HelperReply): void {
    if (id === HELPER_STARTED.id) this.#started.resolve();
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (error) pending.reject(new Refusal(error.code, error.message));
    else pending.resolve(bytes === undefined ? result : Buffer.from(bytes, "base64"));
    if (!this.isBusy) this.#onIdle();
  }

  #onExit(resolve: () => void): void {
    this.#hasExited = true;
    this.#started.resolve();
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(this.#failure());
    }
    this.#pending.clear();
    resolve();
    this.#onIdle();
  }

  #failure(): Refusal {
    return new Refusal(
      CODES.internal,
      `The sandbox helper exited: ${this.#stderr.trim() || "It printed nothing."}`,
    );
  }
}

/**
 * Returns stdio entries that replace inherited descriptors with the null device, so that they don't reach the
 * helper.
 */
function coveredDescriptors(): "ignore"[] {
  const last = Math.max(...inheritedDescriptors(), LAST_STDIO);
  return Array.from({ length: last - LAST_STDIO }, () => "ignore");
}

const LAST_STDIO = 2;

/** Encodes buffers as base64. `toJSON` of the buffer has already run, so the original is taken from `this`. */
function bytesAsBase64(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key];
  return original instanceof Buffer ? original.toString("base64") : value;
}

/** Returns only the variables that a program needs to find its libraries and temporary files. */
function helperEnv(): NodeJS.ProcessEnv {
  const names = ["PATH", "TMPDIR", "TMP", "TEMP", "CODEXKIT_TEST_RUN"];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
