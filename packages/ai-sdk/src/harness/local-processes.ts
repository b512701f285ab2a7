import type { HarnessV1NetworkSandboxSession } from "@ai-sdk/harness";
import { OwnedProcess } from "codexkit/process";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";

type SandboxSession = ReturnType<HarnessV1NetworkSandboxSession["restricted"]>;
type ProcessOptions = Parameters<SandboxSession["run"]>[0];
type SandboxProcess = Awaited<ReturnType<SandboxSession["spawn"]>>;

/** Runs a session's commands on this machine. They end with the session, or with this program. */
export class LocalProcesses {
  readonly #root: string;
  readonly #running = new Set<OwnedProcess>();

  constructor(root: string) {
    this.#root = root;
  }

  async spawn(options: ProcessOptions): Promise<SandboxProcess> {
    const { command, workingDirectory, env, abortSignal } = options;
    abortSignal?.throwIfAborted();
    const owned = new OwnedProcess({
      command: "/bin/sh",
      args: ["-c", command],
      cwd: workingDirectory ?? this.#root,
      env: { ...process.env, ...env },
    });
    this.#running.add(owned);
    // There is no terminal, so a command that reads stdin must not wait for input.
    owned.child.stdin.end();
    const kill = async (): Promise<void> => owned.stop("SIGKILL");
    const onAbort = (): void => void kill();
    abortSignal?.addEventListener("abort", onAbort, { once: true });
    const ended = owned.ended.then(({ code, signal }) => {
      this.#running.delete(owned);
      abortSignal?.removeEventListener("abort", onAbort);
      // 128, as shells report death by a signal.
      return { exitCode: code ?? (signal === null ? 127 : 128) };
    });
    return {
      ...(owned.pid === undefined ? {} : { pid: owned.pid }),
      stdout: Readable.toWeb(owned.child.stdout) as ReadableStream<Uint8Array>,
      stderr: Readable.toWeb(owned.child.stderr) as ReadableStream<Uint8Array>,
      wait: async () => {
        const end = await ended;
        abortSignal?.throwIfAborted();
        return end;
      },
      kill,
    };
  }

  async run(options: ProcessOptions): Promise<Awaited<ReturnType<SandboxSession["run"]>>> {
    const process = await this.spawn(options);
    const [stdout, stderr, { exitCode }] = await Promise.all([
      text(process.stdout),
      text(process.stderr),
      process.wait(),
    ]);
    return { exitCode, stdout, stderr };
  }

  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#running, (owned) => owned.stop("SIGTERM")));
  }
}
