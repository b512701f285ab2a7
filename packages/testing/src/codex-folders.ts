import { codexConfig, type Script, ScriptedModel, withoutModelVariables } from "@codexkit/scripted-model";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempFolder } from "./temp-folder.ts";

export interface ModelOptions {
  /** A running model, or a script for one that lives as long as its codex. */
  readonly model: ScriptedModel | Script;
  /** The model's name, which decides the tools that Codex offers it. */
  readonly modelName?: string;
  /** How often Codex tries a failed model request again; its own number unless told. */
  readonly modelRetries?: number;
}

/** Where a codex under test lives: nothing of the machine's own configuration reaches it. */
export interface CodexFolders extends AsyncDisposable {
  readonly model: ScriptedModel;
  readonly root: string;
  /** The private `CODEX_HOME`, configured for the model. */
  readonly codexHome: string;
  /** An empty folder for threads to work in. */
  readonly workspace: string;
  readonly env: Record<string, string | undefined>;
}

export async function codexFolders(options: ModelOptions): Promise<CodexFolders> {
  await using made = new AsyncDisposableStack();
  const { path: root } = made.use(await tempFolder("codex"));
  const home = join(root, "home");
  const codexHome = join(root, "codex-home");
  const workspace = join(root, "workspace");
  const temp = join(root, "temp");
  for (const path of [home, codexHome, workspace, temp]) await mkdir(path);
  const model =
    options.model instanceof ScriptedModel
      ? options.model
      : made.use(await ScriptedModel.start(options.model));
  const { toml } = codexConfig(model, {
    model: options.modelName ?? "mock-model",
    ...(options.modelRetries === undefined ? {} : { retries: options.modelRetries }),
  });
  await writeFile(join(codexHome, "config.toml"), toml);
  const owner = made.move();
  return {
    model,
    root,
    codexHome,
    workspace,
    env: {
      ...withoutModelVariables(process.env),
      CODEX_HOME: codexHome,
      // An empty HOME keeps the host's shell profiles out of the output of commands.
      HOME: home,
      // Codex's sandbox leaves files in the temp folder; and for a CODEX_HOME inside the temp folder it makes no PATH
      // aliases, without which a sandboxed command gets no PTY.
      TMPDIR: temp,
      // Codex reads all certificates of the machine for each request, also to a model that is reached without TLS.
      SSL_CERT_FILE: "/dev/null",
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}
