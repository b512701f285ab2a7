/** The model id that stands for the one that Codex is configured with. */
export const CONFIGURED_MODEL = "default";
