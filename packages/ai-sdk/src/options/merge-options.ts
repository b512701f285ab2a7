import type { JSONValue } from "@ai-sdk/provider";
import type { CodexLanguageModelOptions, SharedOptions } from "./options.ts";

type Config = Record<string, JSONValue>;

/**
 * Merges a call's options into its model's options. Single values override each other; MCP servers, `config` and instructions
 * are merged, so that a call that adds a server keeps the others.
 */
export function mergeOptions(base: SharedOptions, own: CodexLanguageModelOptions): CodexLanguageModelOptions {
  const { effort, reasoningEffort = effort, summary, reasoningSummary = summary, ...rest } = own;
  const instructions = [base.instructions, own.instructions].filter((text) => text !== undefined);
  const hasOwnSandbox = own.sandbox !== undefined && own.sandboxPolicy === undefined;
  return {
    ...base,
    ...defined(rest),
    ...defined({
      effort: reasoningEffort ?? base.reasoningEffort ?? base.effort,
      summary: reasoningSummary ?? base.reasoningSummary ?? base.summary,
      instructions: instructions.length === 0 ? undefined : instructions.join("\n\n"),
      mcpServers: mergeRecords(base.mcpServers, own.mcpServers),
      config: mergeConfig(base.config, own.config),
    }),
    // A call that names another sandbox also overrides the provider's detailed policy.
    ...(hasOwnSandbox && { sandboxPolicy: undefined }),
  };
}

function mergeRecords<Value>(
  base: Record<string, Value> | undefined,
  own: Record<string, Value> | undefined,
): Record<string, Value> | undefined {
  return base === undefined ? own : { ...base, ...own };
}

function mergeConfig(base: Config | undefined, own: Config | undefined): Config | undefined {
  if (base === undefined || own === undefined) return own ?? base;
  const merged: Config = { ...base };
  for (const [key, value] of Object.entries(own)) {
    const before = merged[key];
    merged[key] = isTable(before) && isTable(value) ? (mergeConfig(before, value) ?? value) : value;
  }
  return merged;
}

function isTable(value: unknown): value is Config {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function defined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Value;
}
