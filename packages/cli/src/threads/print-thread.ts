import type { CodexEvent, v2 } from "codexkit";
import { type CodexCommandOptions, threadsHint } from "../codex/codex-options.ts";
import { openCodex } from "../codex/open-codex.ts";
import { type CliContext, printJson } from "../context.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { checkId } from "../options/check-id.ts";
import { formatAge } from "../render/format-values.ts";
import { TurnView } from "../render/turn-view.ts";
import { formatUserMessage } from "../session/print-session.ts";
import { revealLine } from "../terminal/sanitize.ts";
import { LiveOutput } from "../terminal/live-output.ts";

export interface PrintThreadOptions extends CodexCommandOptions {
  readonly turns: number;
}

/** Implements `codexkit threads show`. */
export async function printThread(
  threadId: string,
  options: PrintThreadOptions,
  context: CliContext,
): Promise<void> {
  const { signal, style, stdout } = context;
  checkId(threadId, "thread");
  await using opened = await openCodex(options, { signal });
  const { codex } = opened;
  const thread = await codex.readThread(threadId, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new CliError(EXIT.failed, `There is no thread "${revealLine(threadId)}".`, {
      cause: error,
      hint: threadsHint(options),
    });
  });
  const { data } = await codex.request("thread/turns/list", {
    threadId,
    limit: options.turns,
    sortDirection: "desc",
    itemsView: "full",
  });
  const turns = data.toReversed();
  if (context.json) {
    printJson(context, { thread, turns });
    return;
  }
  using output = new LiveOutput(stdout, false);
  const view = new TurnView({ output, style, cwd: thread.cwd });
  view.block([
    style.bold(revealLine(thread.name ?? thread.preview) || "(no messages)"),
    `  ${style.dim("thread ")} ${thread.id}`,
    `  ${style.dim("folder ")} ${revealLine(thread.cwd)}`,
    `  ${style.dim("changed")} ${formatAge(Date.now() - thread.updatedAt * 1000)}`,
  ]);
  for (const turn of turns) {
    for (const item of turn.items) {
      if (item.type === "userMessage") view.block(formatUserMessage(item, style));
      else view.handle({ type: "item.completed", item } as CodexEvent);
    }
    if (turn.status !== "completed") view.block([style.yellow(describeEnd(turn))]);
  }
}

function describeEnd({ status, error }: v2.Turn): string {
  return `The turn is ${status}${error ? `: ${revealLine(error.message)}` : ""}.`;
}
