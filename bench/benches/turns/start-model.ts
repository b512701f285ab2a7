import { fork } from "node:child_process";

export interface Model extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts the model that every contestant uses through its codex. It has its own process: its work would
 * otherwise be part of all measured times and make them alike, and its memory part of the measured heap.
 * `script` is the module with its answers.
 */
export async function startModel(
  signal: AbortSignal,
  script: URL = new URL("./script.ts", import.meta.url),
): Promise<Model> {
  const child = fork(new URL("./model-program.ts", import.meta.url), [script.href], {
    execArgv: ["--conditions=codexkit:source"],
    killSignal: "SIGKILL",
    signal,
  });
  const ready = Promise.withResolvers<string>();
  const exited = Promise.withResolvers<void>();
  child.once("message", (url: string) => ready.resolve(url));
  child.on("error", (error) => ready.reject(error));
  child.once("exit", (code, by) => {
    ready.reject(new Error(`the scripted model ended before it began (${by ?? `code ${code}`})`));
    exited.resolve();
  });
  return {
    url: await ready.promise,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited.promise;
    },
  };
}
