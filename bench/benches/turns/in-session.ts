import { raceAbort } from "@codexkit/rpc/async";
import { makeCodexHome, type CodexHome } from "./codex-home.ts";
import type { Model } from "./start-model.ts";

/** What a sample uses: the shared model, and a signal that aborts on Ctrl-C. */
export interface SessionContext {
  readonly model: Model;
  readonly signal: AbortSignal;
}

/**
 * Does the work in its own session and home, so that no sample finds the threads of the previous one. If the
 * signal aborts, the work is abandoned, and everything it waits for ends with the session.
 */
export async function inSession<Kind extends AsyncDisposable, Sample>(
  contender: { open(home: CodexHome): Promise<Kind> },
  { model, signal }: SessionContext,
  work: (session: Kind) => Promise<Sample>,
): Promise<Sample> {
  await using home = await makeCodexHome(model);
  signal.throwIfAborted();
  await using session = await contender.open(home);
  return await raceAbort(work(session), signal);
}
