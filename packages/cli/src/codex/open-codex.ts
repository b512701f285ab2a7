import type { Codex, LaunchOptions } from "codexkit";
import { launchCodex } from "codexkit/launch";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { readVersion } from "../version.ts";
import type { CodexCommandOptions } from "./codex-options.ts";

/** A codex of this program, with the scripted model of `--demo` if there is one. */
export interface OpenedCodex extends AsyncDisposable {
  readonly codex: Codex;
}

/** Launches codex with the person's own home, or with a home for demos. */
export async function openCodex(
  { demo = false }: CodexCommandOptions,
  { configOverrides = [], ...options }: LaunchOptions = {},
): Promise<OpenedCodex> {
  await using stack = new AsyncDisposableStack();
  const apiKey = demo ? undefined : findApiKey(process.env);
  const { configOverrides: demoOverrides = [], ...settings } = demo ? await startDemo(stack) : {};
  const codex = stack.use(
    await launchCodex({
      clientInfo: { name: "codexkit_cli", title: "codexkit", version: readVersion() },
      ...settings,
      ...options,
      configOverrides: [
        ...demoOverrides,
        // A key from the environment must not be written to the person's files.
        ...(apiKey === undefined ? [] : ['cli_auth_credentials_store="ephemeral"']),
        ...configOverrides,
      ],
    }),
  );
  // Unlike `codex exec`, an app-server ignores keys in its environment.
  if (apiKey !== undefined) await codex.account.loginWithApiKey(apiKey);
  const owned = stack.move();
  return { codex, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Rejects if the model needs credentials and there are none. */
export async function requireCredentials(codex: Codex, signal?: AbortSignal): Promise<void> {
  const { account, requiresOpenaiAuth } = await codex.account.read(signal ? { signal } : {});
  if (account !== null || !requiresOpenaiAuth) return;
  throw new CliError(EXIT.failed, "No credentials for a model were found.", {
    hint: "Run `codexkit login` or set OPENAI_API_KEY. To try codexkit without credentials, add --demo.",
  });
}

/** As in Codex's own programs: `OPENAI_API_KEY` is common for other reasons, so that a login wins over it. */
function findApiKey(env: NodeJS.ProcessEnv): string | undefined {
  const own = env["CODEX_API_KEY"]?.trim();
  if (own) return own;
  const home = env["CODEX_HOME"] || join(homedir(), ".codex");
  return existsSync(join(home, "auth.json")) ? undefined : env["OPENAI_API_KEY"]?.trim() || undefined;
}

/** Threads of demos can be resumed, so their home is kept, apart from the person's. */
async function startDemo(stack: AsyncDisposableStack): Promise<LaunchOptions> {
  const { codexConfig, demoScript, ScriptedModel, withoutModelVariables } =
    await import("@codexkit/scripted-model");
  const model = stack.use(await ScriptedModel.start(demoScript));
  const codexHome = join(homedir(), ".codexkit", "demo");
  await mkdir(codexHome, { recursive: true, mode: 0o700 });
  const { overrides } = codexConfig(model, { model: "demo-model" });
  return {
    codexHome,
    configOverrides: overrides,
    inheritEnv: false,
    env: withoutModelVariables(process.env),
  };
}
