import { attachSession } from "../attach/attach-session.ts";
import type { ThreadCommandOptions } from "../run/thread-options.ts";
import type { CliContext } from "../context.ts";
import { connectDaemon } from "../daemon/connect-daemon.ts";
import { usageError } from "../errors/cli-error.ts";
import { resolveFolder } from "../run/open-thread.ts";
import { separatePrompt } from "../run/read-prompt.ts";
import { daemonOptions, openSession, rejectThreadOptions, toMessage } from "../run/run-session.ts";

/** Implements `codexkit chat --daemon`: creates or finds a session and attaches to it. */
export async function chatSession(
  context: CliContext,
  words: string,
  given: ThreadCommandOptions,
): Promise<void> {
  if (!context.isInteractive) {
    throw usageError("chat requires a terminal.", 'Use `codexkit run --daemon "…"` in scripts.');
  }
  const { prompt, options } = separatePrompt(words, given);
  rejectThreadOptions(options);
  const cwd = resolveFolder(options);
  const message = prompt === "" ? undefined : await toMessage(prompt, options.image);
  const { client } = await connectDaemon(daemonOptions(options), context);
  const session = await openSession(client, { options, cwd, signal: context.signal });
  if (message !== undefined) await client.send(session.id, message, { signal: context.signal });
  await attachSession(session.id, daemonOptions(options), context);
}
