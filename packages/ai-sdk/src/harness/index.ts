// Codex as a harness of `@ai-sdk/harness`, over the same provider. Experimental, as that package is.
import "../require-node.ts";

export { createCodexHarness, type CodexHarness, type CodexHarnessSettings } from "./create-codex-harness.ts";

// This machine as the sandbox that a `HarnessAgent` demands.
export { localSandbox } from "./local-sandbox.ts";
