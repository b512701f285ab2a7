import { type ChildProcess, spawn } from "node:child_process";
import { LineSplitter } from "@codexkit/rpc";
import { EXEC_LIMITS } from "../limits.ts";
import { CODES } from "../wire/codes.ts";
import { Refusal } from "../wire/refusal.ts";

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

interface HelperReply {
  readonly id: number;
  readonly result?: unknown;
  /** A result that is bytes, in base64. */
  readonly bytes?: string;
  readonly error?: { readonly code: number; readonly message: string };
}

/** File operations in one sandbox: a helper that stays warm, so that an operation costs a line and not a program start. */
export class SandboxedFiles implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #gone: Promise<void>;
  #nextId = 0;
  #stderr = "";
  #dead = false;

  constructor(bwrap: string, args: readonly string[]) {
    this.#child = spawn(bwrap, args, { stdio: ["pipe", "pipe", "pipe"], detached: true, env: helperEnv() });
    const lines = new LineSplitter(EXEC_LIMITS.fileBytes * 2, (line) =>
      this.#answer(JSON.parse(line) as HelperReply),
    );
    this.#child.stdout?.on("data", (bytes: Buffer) => lines.push(bytes));
    this.#child.stderr?.on("data", (bytes: Buffer) => {
      this.#stderr = (this.#stderr + String(bytes)).slice(-1_000);
    });
    this.#child.stdin?.on("error", () => {});
    this.#gone = new Promise((resolve) => {
      this.#child.once("error", () => this.#died(resolve));
      this.#child.once("close", () => this.#died(resolve));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  call(method: string, params: unknown): Promise<unknown> {
    if (this.#dead) return Promise.reject(this.#failure());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#child.kill("SIGKILL");
      }, EXEC_LIMITS.sandboxHelperCallMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#child.stdin?.write(`${JSON.stringify({ id, method, params }, bytesAsBase64)}\n`);
    });
  }

  async readBlock(handleId: string, offset: number, len: number): Promise<{ bytes: Buffer; eof: boolean }> {
    const bytes = (await this.call("fs/readBlock", { handleId, offset, len })) as Buffer;
    return { bytes, eof: bytes.length < len };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#gone;
  }

  #answer({ id, result, bytes, error }: HelperReply): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (error) pending.reject(new Refusal(error.code, error.message));
    else pending.resolve(bytes === undefined ? result : Buffer.from(bytes, "base64"));
  }

  #died(resolve: () => void): void {
    this.#dead = true;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(this.#failure());
    }
    this.#pending.clear();
    resolve();
  }

  #failure(): Refusal {
    return new Refusal(
      CODES.internal,
      `the sandboxed helper ended: ${this.#stderr.trim() || "it said nothing"}`,
    );
  }
}

/** Bytes that were decoded on the way in go on as base64. A buffer's own `toJSON` has run when this sees it. */
function bytesAsBase64(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key];
  return original instanceof Buffer ? original.toString("base64") : value;
}

/** What a program needs to find its libraries and its temporary files, and nothing of the server's. */
function helperEnv(): NodeJS.ProcessEnv {
  const names = ["PATH", "TMPDIR", "TMP", "TEMP", "CODEXKIT_TEST_RUN"];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
