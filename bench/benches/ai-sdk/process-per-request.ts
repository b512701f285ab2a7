import { fork } from "node:child_process";
import { once } from "node:events";

import { makeCodexHome } from "../turns/codex-home.ts";
import type { SessionContext } from "../turns/in-session.ts";

/** Milliseconds from the start of the provider's import. */
export type ProcessTimes = {
  /** The provider is imported. */
  readonly import: number;
  /** The answer has arrived. */
  readonly total: number;
  /** The provider is closed and its codex has exited. */
  readonly closed: number;
};

/** A provider that exists for one request only, as in a cloud function or a script. */
export async function processPerRequest(
  name: string,
  { model, signal }: SessionContext,
): Promise<ProcessTimes> {
  await using home = await makeCodexHome(model);
  const { codex, workspace, env } = home;
  const child = fork(new URL("./request-program.ts", import.meta.url), [name], {
    // As installed: built files instead of sources, whose types Node would have to strip.
    execArgv: [],
    killSignal: "SIGKILL",
    signal,
  });
  const exited = once(child, "exit");
  const answered = Promise.withResolvers<ProcessTimes>();
  child.once("message", (times: ProcessTimes) => answered.resolve(times));
  child.once("error", (error) => answered.reject(error));
  void exited.then(() => answered.reject(new Error(`the program of ${name} ended without an answer`)));
  child.send({ codex, workspace, env });
  const times = await answered.promise;
  await exited;
  return times;
}
