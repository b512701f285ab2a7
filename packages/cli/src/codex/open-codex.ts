import type { Codex, LaunchOptions } from "codexkit";
import { launchCodex } from "codexkit/launch";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { CliError, EXIT } from "../errors/cli-error.ts";
import type { CodexCommandOptions } from "./codex-options.ts";
import { claimEarlyCodex } from "./early-codex.ts";
import { findApiKey, launchOptions } from "./launch-options.ts";

/** A codex launched by this program, with the scripted model if `--demo` is set. */
export interface OpenedCodex extends AsyncDisposable {
  readonly codex: Codex;
}

/** Launches codex with the user's own home, or with a separate home for demos. */
export async function openCodex(
  { demo = false }: CodexCommandOptions,
  given: LaunchOptions = {},
): Promise<OpenedCodex> {
  await using stack = new AsyncDisposableStack();
  const options = demo ? await startDemo(stack, given) : launchOptions(process.env, given);
  const codex = stack.use(await (claimEarlyCodex(options) ?? launchCodex(options)));
  const apiKey = demo ? undefined : findApiKey(process.env);
  // Unlike `codex exec`, an app-server ignores keys in its environment.
  if (apiKey !== undefined) await codex.account.loginWithApiKey(apiKey);
  const owned = stack.move();
  return { codex, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Rejects if the model needs credentials and none are found. */
export async function requireCredentials(codex: Codex, signal?: AbortSignal): Promise<void> {
  const { account, requiresOpenaiAuth } = await codex.account.read(signal ? { signal } : {});
  if (account !== null || !requiresOpenaiAuth) return;
  throw new CliError(EXIT.failed, "No credentials for a model were found.", {
    hint: "Run `codexkit login` or set OPENAI_API_KEY. To try codexkit without credentials, add --demo.",
  });
}

/** Demo threads can be resumed, so their home is kept, separate from the user's. */
async function startDemo(stack: AsyncDisposableStack, given: LaunchOptions): Promise<LaunchOptions> {
  const { codexConfig, demoScript, ScriptedModel, withoutModelVariables } =
    await import("@codexkit/scripted-model");
  const model = stack.use(await ScriptedModel.start(demoScript));
  const codexHome = join(homedir(), ".codexkit", "demo");
  await mkdir(codexHome, { recursive: true, mode: 0o700 });
  const { overrides } = codexConfig(model, { model: "demo-model" });
  const env = withoutModelVariables(process.env);
  return launchOptions(env, { codexHome, inheritEnv: false, env, ...given, configOverrides: overrides });
}
