import type { Conversation } from "./contender.ts";
import { checkResponse } from "./script.ts";

/** One turn with a short answer. */
export async function shortTurn(thread: Conversation): Promise<void> {
  checkResponse("answer", await thread.run("answer"));
}

/**
 * Returns a thread that has completed its first turn, which creates files and opens connections for every
 * contestant.
 */
export async function startWarm<Talk extends Conversation>(session: {
  startThread(): Promise<Talk>;
}): Promise<Talk> {
  const thread = await session.startThread();
  await shortTurn(thread);
  return thread;
}
