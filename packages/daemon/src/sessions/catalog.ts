import { type Codex, CodexError, type v2 } from "codexkit";
import type { Quota } from "../api/account.ts";
import type { FileMatch } from "../api/file.ts";
import type { AccountSummary, ModelSummary } from "./runner.ts";

export async function readModels(codex: Codex): Promise<readonly ModelSummary[]> {
  const models: ModelSummary[] = [];
  for await (const model of codex.models.list({ includeHidden: true })) {
    models.push({
      id: model.id,
      model: model.model,
      name: model.displayName,
      description: model.description,
      isDefault: model.isDefault,
      hidden: model.hidden,
      efforts: model.supportedReasoningEfforts.map(({ reasoningEffort }) => reasoningEffort),
      defaultEffort: model.defaultReasoningEffort,
      inputs: model.inputModalities,
    });
  }
  return models;
}

export async function readAccount(codex: Codex): Promise<AccountSummary> {
  const { account, requiresOpenaiAuth } = await codex.account.read();
  return { account, requiresOpenaiAuth };
}

/** Reads the quotas of the account. API keys have none, which Codex reports as an error. */
export async function readQuotas(codex: Codex): Promise<readonly Quota[]> {
  try {
    const { rateLimits, rateLimitsByLimitId } = await codex.account.rateLimits();
    const byId = Object.values(rateLimitsByLimitId ?? {}).filter((snapshot) => snapshot !== undefined);
    return (byId.length > 0 ? byId : [rateLimits]).map(({ limitId, limitName, primary, secondary }) => ({
      id: limitId,
      name: limitName,
      windows: [primary, secondary].filter((window) => window !== null).map(toQuotaWindow),
    }));
  } catch (error) {
    if (error instanceof CodexError && error.code === "request_failed") return [];
    throw error;
  }
}

function toQuotaWindow({
  usedPercent,
  windowDurationMins: minutes,
  resetsAt,
}: v2.RateLimitWindow): Quota["windows"][number] {
  // Codex counts seconds.
  return { usedPercent, minutes, resetsAt: resetsAt === null ? null : resetsAt * 1000 };
}

export async function searchFiles(
  codex: Codex,
  query: string,
  { folder, signal }: { readonly folder: string; readonly signal?: AbortSignal | undefined },
): Promise<readonly FileMatch[]> {
  const found = await codex.files.search(query, { roots: [folder], ...(signal && { signal }) });
  return found.map(({ path, match_type: type, score, indices }) => ({
    path,
    type: type === "directory" ? "folder" : "file",
    score,
    indices,
  }));
}
