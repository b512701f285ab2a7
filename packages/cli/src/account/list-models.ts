import type { v2 } from "codexkit";
import type { CodexCommandOptions } from "../codex/codex-options.ts";
import { openCodex } from "../codex/open-codex.ts";
import { type CliContext, printJson } from "../context.ts";
import { formatTable } from "../terminal/format-table.ts";

export interface ListModelsOptions extends CodexCommandOptions {
  readonly hidden?: boolean;
}

/** Implements `codexkit models`. */
export async function listModels(
  { hidden = false, ...options }: ListModelsOptions,
  context: CliContext,
): Promise<void> {
  const { signal } = context;
  await using opened = await openCodex(options, { signal });
  const models: v2.Model[] = [];
  for await (const model of opened.codex.models.list({ includeHidden: hidden, signal })) models.push(model);
  if (context.json) {
    for (const model of models) printJson(context, model);
    return;
  }
  const rows = models.map(
    ({ model, isDefault, supportedReasoningEfforts, defaultReasoningEffort, description }) => [
      model + (isDefault ? " (default)" : ""),
      supportedReasoningEfforts
        .map(({ reasoningEffort }) =>
          reasoningEffort === defaultReasoningEffort ? `${reasoningEffort}*` : reasoningEffort,
        )
        .join(" "),
      description,
    ],
  );
  context.stdout.write(formatTable(["MODEL", "EFFORTS", "DESCRIPTION"], rows, context));
}
