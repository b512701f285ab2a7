import type { LaunchOptions } from "codexkit";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { readVersion } from "../version.ts";

/** Returns the launch options for a codex that uses the user's own home. */
export function launchOptions(
  env: NodeJS.ProcessEnv,
  { configOverrides = [], ...options }: LaunchOptions,
): LaunchOptions {
  return {
    clientInfo: { name: "codexkit_cli", title: "codexkit", version: readVersion() },
    ...options,
    configOverrides: [
      // A key from the environment must not be written to the user's files.
      ...(findApiKey(env) === undefined ? [] : ['cli_auth_credentials_store="ephemeral"']),
      ...configOverrides,
    ],
  };
}

/**
 * Finds an API key as Codex's own programs do. `OPENAI_API_KEY` is often set for other reasons, so a login
 * takes precedence over it.
 */
export function findApiKey(env: NodeJS.ProcessEnv): string | undefined {
  const own = env["CODEX_API_KEY"]?.trim();
  if (own) return own;
  const home = env["CODEX_HOME"] || join(homedir(), ".codex");
  return existsSync(join(home, "auth.json")) ? undefined : env["OPENAI_API_KEY"]?.trim() || undefined;
}
