import type { Codex, Thread, v2 } from "codexkit";
import { usageError } from "../errors/cli-error.ts";
import { revealLine } from "../terminal/sanitize.ts";

/** The provider whose models Codex lists. Other providers have their own models, which Codex doesn't know. */
const LISTED_PROVIDER = "openai";

interface ModelChoice {
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
}

/**
 * Rejects a model or an effort that Codex does not offer for a thread. Codex itself accepts every name, and
 * the turn then fails when the provider rejects it. Asks Codex only if a model or an effort was chosen.
 */
export async function checkModel(
  { model, effort }: ModelChoice,
  { codex, thread, signal }: { codex: Codex; thread: Pick<Thread, "settings">; signal: AbortSignal },
): Promise<void> {
  if (model === undefined && effort === undefined) return;
  const models = await Array.fromAsync(codex.models.list({ includeHidden: true, signal }));
  const name = model ?? thread.settings.model;
  const found = models.find((each) => each.id === name || each.model === name);
  if (model !== undefined && !found && thread.settings.modelProvider === LISTED_PROVIDER) {
    const offered = models.filter(({ hidden }) => !hidden).map((each) => each.model);
    throw usageError(`Unknown model "${revealLine(model)}".`, `Choose one of ${offered.join(", ")}.`);
  }
  // The efforts of an unlisted model are unknown, but are among the efforts of all models.
  const efforts = new Set((found ? [found] : models).flatMap(effortsOf));
  if (effort !== undefined && efforts.size > 0 && !efforts.has(effort)) {
    const message = `Unknown effort "${revealLine(effort)}"${found ? ` for ${name}` : ""}.`;
    throw usageError(message, `Choose one of ${[...efforts].join(", ")}.`);
  }
}

function effortsOf({ supportedReasoningEfforts }: v2.Model): string[] {
  return supportedReasoningEfforts.map(({ reasoningEffort }) => reasoningEffort);
}
