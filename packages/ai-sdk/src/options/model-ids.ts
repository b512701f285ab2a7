/** The model id that selects the model in Codex's configuration. */
export const CONFIGURED_MODEL = "default";

/** Models that Codex 0.166 lists. Any other id is passed on unchanged; `codex.listModels()` lists the account's models. */
export type CodexModelId =
  | "gpt-6.1-sol"
  | "gpt-6.1-terra"
  | "gpt-6-astra"
  | "gpt-6-sol"
  | "gpt-6-luna"
  | "gpt-5.6-sol"
  | "gpt-5.6-terra"
  | "gpt-5.6-luna"
  | "gpt-5.5"
  // Plain `string` would absorb the literals above and remove them from completions.
  | (string & {});
