// Lets the examples run without an API key: a real codex with a private home and a scripted model. With CODEXKIT_LIVE=1 they use
// your own codex, account and configuration instead.
import { codexConfig, type Script } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import type { LaunchOptions } from "codexkit";

export interface ExampleSetup extends AsyncDisposable {
  /** Options for `Codex.launch`, and for the `codex` of a daemon. */
  readonly launch: LaunchOptions;
  /** Working directory for threads. */
  readonly folder: string;
}

export async function setUpExample(script: Script, modelName = "gpt-5.5"): Promise<ExampleSetup> {
  if (process.env["CODEXKIT_LIVE"] === "1") {
    return { launch: {}, folder: process.cwd(), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const folders = await codexFolders({ model: script, modelName });
  return {
    launch: {
      env: folders.env,
      inheritEnv: false,
      // Not written to a file in the home, because the daemon's codex has its own home.
      configOverrides: codexConfig(folders.model, { model: modelName }).overrides,
    },
    folder: folders.workspace,
    [Symbol.asyncDispose]: async () => folders[Symbol.asyncDispose](),
  };
}
