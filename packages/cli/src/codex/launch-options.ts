import type { LaunchOptions } from "codexkit";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { readVersion } from "../version.ts";

/** The launch options of a codex with the person's own home. */
export function launchOptions(
  env: NodeJS.ProcessEnv,
  { configOverrides = [], ...options }: LaunchOptions,
): LaunchOptions {
  return {
    clientInfo: { name: "codexkit_cli", title: "codexkit", version: readVersion() },
    ...options,
    configOverrides: [
      // A key from the environment must not be written to the person's files.
      ...(findApiKey(env) === undefined ? [] : ['cli_auth_credentials_store="ephemeral"']),
      ...configOverrides,
    ],
  };
}

/** As in Codex's own programs: `OPENAI_API_KEY` is common for other reasons, so that a login wins over it. */
export function findApiKey(env: NodeJS.ProcessEnv): string | undefined {
  const own = env["CODEX_API_KEY"]?.trim();
  if (own) return own;
  const home = env["CODEX_HOME"] || join(homedir(), ".codex");
  return existsSync(join(home, "auth.json")) ? undefined : env["OPENAI_API_KEY"]?.trim() || undefined;
}
