import type { Codex } from "codexkit";
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
