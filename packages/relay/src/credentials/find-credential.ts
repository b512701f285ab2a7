import { readFile } from "node:fs/promises";
import { RelayError } from "../errors.ts";
import { codexHome, codexLogin } from "./codex-login.ts";
import { bearerToken, type RelayCredential } from "./credential.ts";
import { assertApiKeyHost } from "./registry-host.ts";

/** Variables with tokens of this program. Commands of the executor must not inherit them. */
export const SECRET_VARIABLES = [
  "CODEXKIT_RELAY_TOKEN",
  "CODEX_API_KEY",
  "CODEX_ACCESS_TOKEN",
  "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
] as const;

export interface FindCredentialOptions {
  /** The URL of the registry. An OpenAI API key is only sent to OpenAI and to this machine. */
  readonly url: string;
  /** A file with a token for a registry of your own. */
  readonly tokenFile?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Finds the credential for a registry: the token file, `CODEXKIT_RELAY_TOKEN`, `CODEX_API_KEY`, or Codex's own login.
 * A token file and a login are read again for each request.
 */
export function findCredential({
  url,
  tokenFile,
  env = process.env,
}: FindCredentialOptions): RelayCredential {
  if (tokenFile !== undefined) return tokenFromFile(tokenFile);
  const { CODEXKIT_RELAY_TOKEN: relayToken, CODEX_API_KEY: apiKey } = env;
  if (relayToken !== undefined && relayToken !== "") return bearerToken(relayToken.trim());
  if (apiKey !== undefined && apiKey !== "") {
    assertApiKeyHost(url, "CODEX_API_KEY");
    return bearerToken(apiKey);
  }
  return codexLogin(codexHome(env));
}

function tokenFromFile(path: string): RelayCredential {
  return {
    authorize: async (request, signal) => {
      const token = (
        await readFile(path, { encoding: "utf8", signal }).catch((cause: unknown) => {
          throw new RelayError("bad_option", `--token-file: ${path} can't be read (${codeOf(cause)}).`, {
            cause,
          });
        })
      ).trim();
      if (!/^\S+$/.test(token)) {
        throw new RelayError(
          "bad_option",
          `--token-file: ${path} ${token === "" ? "is empty" : "has more than one word"}. Expected one token.`,
        );
      }
      return bearerToken(token).authorize(request, signal);
    },
  };
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
}

/** Removes tokens or keys from an environment. Call it when the credential has been found. */
export function removeSecrets(env: NodeJS.ProcessEnv, names: readonly string[] = SECRET_VARIABLES): void {
  for (const name of names) delete env[name];
}
