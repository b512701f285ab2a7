import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { RelayError } from "../errors.ts";
import { assertApiKeyHost } from "./registry-host.ts";
import { bearerHeaders, type RelayCredential } from "./credential.ts";

const authSchema = z.object({
  OPENAI_API_KEY: z.string().min(1).nullish(),
  tokens: z.object({ access_token: z.string().min(1), account_id: z.string().min(1).nullish() }).nullish(),
});

/** The folder of Codex's files. */
export function codexHome(env: NodeJS.ProcessEnv): string {
  return env["CODEX_HOME"] ?? join(env["HOME"] ?? homedir(), ".codex");
}

/**
 * The credentials that `codex login` has stored: a ChatGPT session or an API key. They are read again for each request, because
 * Codex replaces tokens before they expire.
 */
export function codexLogin(home: string): RelayCredential {
  return {
    authorize: async ({ url }) => {
      const { OPENAI_API_KEY: apiKey, tokens } = await readLogin(join(home, "auth.json"));
      if (tokens) return bearerHeaders(tokens.access_token, tokens.account_id ?? undefined);
      if (apiKey === null || apiKey === undefined) throw notLoggedIn();
      assertApiKeyHost(url, "The API key of `codex login`");
      return bearerHeaders(apiKey);
    },
  };
}

async function readLogin(path: string): Promise<z.infer<typeof authSchema>> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw notLoggedIn(cause);
  });
  try {
    return authSchema.parse(JSON.parse(text));
  } catch {
    // The cause would quote the file, which holds tokens.
    throw new RelayError(
      "unauthorized",
      `${path} can't be read as a login of Codex. Run \`codex login\` again.`,
    );
  }
}

function notLoggedIn(cause?: unknown): RelayError {
  return new RelayError(
    "unauthorized",
    "No credentials for the registry were found. Set CODEXKIT_RELAY_TOKEN or --token-file for a registry of your own, " +
      "or run `codex login`, or set CODEX_API_KEY.",
    { cause },
  );
}
