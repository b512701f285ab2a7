// What lets these examples run without a key: a real codex in a home of its own, on a model that plays a script. With
// CODEXKIT_LIVE=1 they use your own codex, your account and your configuration instead.
import type { Script } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import type { LaunchOptions } from "codexkit";

export interface Stage extends AsyncDisposable {
  /** For `Codex.launch`. */
  readonly launch: LaunchOptions;
  /** A folder for threads to work in. */
  readonly folder: string;
}

export async function onAScript(script: Script, modelName = "gpt-5.5"): Promise<Stage> {
  if (process.env["CODEXKIT_LIVE"] === "1") {
    return { launch: {}, folder: process.cwd(), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const folders = await codexFolders({ model: script, modelName });
  return {
    launch: { env: folders.env, inheritEnv: false },
    folder: folders.workspace,
    [Symbol.asyncDispose]: async () => folders[Symbol.asyncDispose](),
  };
}
