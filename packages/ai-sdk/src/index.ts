// Codex as a model of the AI SDK.
export {};
