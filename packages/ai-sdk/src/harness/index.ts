// Codex as a harness for `@ai-sdk/harness`, built on the provider. Experimental, like that package.
import "../require-node.ts";

export { createCodexHarness, type CodexHarness, type CodexHarnessSettings } from "./create-codex-harness.ts";

// This machine as the sandbox that a `HarnessAgent` requires.
export { localSandbox } from "./local-sandbox.ts";
