import { codexConfig, type Script, ScriptedModel, withoutModelVariables } from "@codexkit/scripted-model";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { copyHomeTemplate, templatePrograms } from "./copy-home-template.ts";
import { tempFolder } from "./temp-folder.ts";

export interface ModelOptions {
  /** A running model, or a script for a model that is closed with its codex. */
  readonly model: ScriptedModel | Script;
  /** The model's name, which determines the tools that Codex offers. */
  readonly modelName?: string;
  /** How often Codex retries a failed model request. Default: Codex's own default. */
  readonly modelRetries?: number;
}

/** Private folders of a codex under test, isolated from the machine's configuration. */
export interface CodexFolders extends AsyncDisposable {
  readonly model: ScriptedModel;
  readonly root: string;
  /** The private `CODEX_HOME`, configured for the model. */
  readonly codexHome: string;
  /** An empty folder for threads to work in. */
  readonly workspace: string;
  readonly env: Record<string, string | undefined>;
}

/**
 * Settings of homes that are copied from a template. Benchmarks have none, so that they measure what users have. A snapshot of the
 * shell's settings, of which an empty home has none, takes as long as starting Codex.
 */
const FAST = "features.shell_snapshot=false\n";

/** Creates another Codex home with the same configuration, such as that of a daemon. */
export async function createCodexHome(path: string, { codexHome }: CodexFolders): Promise<void> {
  await mkdir(path, { recursive: true });
  copyHomeTemplate(path);
  await copyFile(join(codexHome, "config.toml"), join(path, "config.toml"));
}

export async function codexFolders(options: ModelOptions): Promise<CodexFolders> {
  await using made = new AsyncDisposableStack();
  const { path: root } = made.use(await tempFolder("codex"));
  const home = join(root, "home");
  const codexHome = join(root, "codex-home");
  const workspace = join(root, "workspace");
  const temp = join(root, "temp");
  for (const path of [home, codexHome, workspace, temp]) await mkdir(path);
  copyHomeTemplate(codexHome);
  const model =
    options.model instanceof ScriptedModel
      ? options.model
      : made.use(await ScriptedModel.start(options.model));
  const { toml } = codexConfig(model, {
    model: options.modelName ?? "mock-model",
    ...(options.modelRetries === undefined ? {} : { retries: options.modelRetries }),
  });
  const programs = templatePrograms();
  await writeFile(join(codexHome, "config.toml"), `${toml}${programs === undefined ? "" : FAST}`);
  const owner = made.move();
  return {
    model,
    root,
    codexHome,
    workspace,
    env: {
      ...withoutModelVariables(process.env),
      PATH: [programs, process.env["PATH"]].filter(Boolean).join(delimiter),
      CODEX_HOME: codexHome,
      // An empty HOME, so that the host's shell profiles don't affect command output.
      HOME: home,
      // Codex's sandbox leaves files in the temporary folder. CODEX_HOME must not be inside it, because Codex would then create no
      // PATH aliases, without which a sandboxed command gets no PTY.
      TMPDIR: temp,
      // Otherwise, Codex reads all of the machine's certificates for each request, even without TLS.
      SSL_CERT_FILE: "/dev/null",
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}
