import type { ScriptedModel } from "@codexkit/scripted-model";
import { Codex, type LaunchOptions } from "codexkit";
import { codexFolders, type ModelOptions } from "./codex-folders.ts";

export interface LaunchedCodex extends AsyncDisposable {
  readonly codex: Codex;
  readonly model: ScriptedModel;
  /** An empty folder for threads to work in. */
  readonly workspace: string;
  readonly codexHome: string;
  /** Options for launching another codex with the same home. */
  readonly launchOptions: LaunchOptions;
}

/** Runs `Codex.launch` with the real codex of the pinned release, a private home and a scripted model. */
export async function launchCodex({
  model: script,
  modelName,
  modelRetries,
  ...options
}: ModelOptions & LaunchOptions): Promise<LaunchedCodex> {
  await using made = new AsyncDisposableStack();
  const { model, workspace, codexHome, env } = made.use(
    await codexFolders({
      model: script,
      ...(modelName === undefined ? {} : { modelName }),
      ...(modelRetries === undefined ? {} : { modelRetries }),
    }),
  );
  const launchOptions = { inheritEnv: false, ...options, env: { ...env, ...options.env } };
  const codex = made.use(await Codex.launch(launchOptions));
  const owner = made.move();
  return {
    codex,
    model,
    workspace,
    codexHome,
    launchOptions,
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}
