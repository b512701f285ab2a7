import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import type { Streams } from "./contender.ts";

export interface Child extends Streams, AsyncDisposable {
  /** Rejects if the child exits before it is disposed of, so that no reader waits forever. */
  readonly died: Promise<never>;
}

/** Starts one of the scripts in this folder and waits until it has built its bytes and reports ready. */
export async function startChild(
  script: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<Child> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    // The same kind of pipes as between an SDK and its app-server. The channel is used only for the ready
    // message.
    stdio: ["pipe", "pipe", "inherit", "ipc"],
    killSignal: "SIGKILL",
    signal,
  });
  const exited = Promise.withResolvers<void>();
  child.once("close", () => exited.resolve());
  const died = Promise.withResolvers<never>();
  child.once("error", (error) => died.reject(error));
  child.once("exit", (code, by) => died.reject(new Error(`${script} ended early (${by ?? `code ${code}`})`)));
  // Its exit is an error only for callers that wait for it.
  died.promise.catch(() => {});
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new TypeError("a child without pipes");
  // A write to a child that was killed fails, which no longer matters.
  stdin.on("error", () => {});
  await Promise.race([once(child, "message"), died.promise]);
  return {
    input: stdout,
    output: stdin,
    died: died.promise,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      // Unread bytes would delay the close event.
      stdout.destroy();
      await exited.promise;
    },
  };
}
