import { type Credentials, discoverCredentials } from "codexkit";
import { chmod, copyFile, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/** Where the credentials of the daemon's codex come from. */
export interface CredentialStatus {
  readonly kind: "apiKey" | "chatgpt" | "unusable" | "none";
  /** `options` are those of the daemon. `codexHome` is a login that was made in the daemon's own Codex home. */
  readonly source: "options" | "CODEX_API_KEY" | "OPENAI_API_KEY" | "auth.json" | "codexHome" | null;
  /** Why credentials that were found can't be used. */
  readonly reason?: string;
  /** Of a ChatGPT login. */
  readonly email?: string;
  /** Milliseconds since the epoch, of a ChatGPT login. Codex renews it. */
  readonly expiresAt?: number;
}

export interface CredentialOptions {
  /** The daemon's own Codex home. Credentials that are found are stored there and nowhere else. */
  readonly codexHome: string;
  /** Takes precedence over everything that is found. */
  readonly apiKey?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The Codex home of the user. Default: `$CODEX_HOME`, else `~/.codex`. */
  readonly userCodexHome?: string | undefined;
}

/** Variables that hold keys. They are removed from the environment of codex, so that no command can read them. */
export const KEY_VARIABLES = ["CODEX_API_KEY", "OPENAI_API_KEY"] as const;

/**
 * Finds credentials (options, environment, the user's login file) and stores them in the daemon's Codex home. Call it before
 * codex is launched: a running codex refuses to start threads after its login file was changed.
 */
export async function installCredentials(options: CredentialOptions): Promise<CredentialStatus> {
  const { codexHome, env = process.env } = options;
  const apiKey = options.apiKey?.trim();
  if (apiKey) {
    await writeApiKey(codexHome, apiKey);
    return { kind: "apiKey", source: "options" };
  }
  const found = await discoverCredentials({
    env,
    ...(options.userCodexHome === undefined ? {} : { codexHome: options.userCodexHome }),
  });
  if (found.kind === "apiKey") {
    await writeApiKey(codexHome, found.apiKey);
    return statusOf(found);
  }
  if (found.kind === "chatgpt") {
    await copyLogin(found.path, codexHome);
    return statusOf(found);
  }
  // A person may have signed in with the daemon's own home.
  const own = await discoverCredentials({ env: {}, codexHome });
  if (own.kind === "apiKey" || own.kind === "chatgpt") return { ...statusOf(own), source: "codexHome" };
  return statusOf(found);
}

/** Keeps the secrets out of the status. */
function statusOf(credentials: Credentials): CredentialStatus {
  const { kind } = credentials;
  if (kind === "none") return { kind, source: null };
  if (kind === "unusable") return { kind, source: credentials.source, reason: credentials.reason };
  if (kind === "apiKey") return { kind, source: credentials.source };
  return {
    kind,
    source: credentials.source,
    ...(credentials.email === undefined ? {} : { email: credentials.email }),
    ...(credentials.expiresAt === undefined ? {} : { expiresAt: credentials.expiresAt.getTime() }),
  };
}

async function writeApiKey(codexHome: string, apiKey: string): Promise<void> {
  const path = join(codexHome, "auth.json");
  const text = `${JSON.stringify({ auth_mode: "apikey", OPENAI_API_KEY: apiKey }, null, 2)}\n`;
  // Unchanged for a codex that is still running: it refuses to start threads after a change.
  const current = await readFile(path, "utf8").catch(() => undefined);
  const known = current === undefined ? undefined : await discoverCredentials({ env: {}, codexHome });
  if (known?.kind === "apiKey" && known.apiKey === apiKey) return;
  await mkdir(codexHome, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Codex renews its copy of a login, so that only a newer login of the user replaces it. */
async function copyLogin(from: string, codexHome: string): Promise<void> {
  const path = join(codexHome, "auth.json");
  if (resolve(from) === resolve(path)) return;
  const [source, copy] = await Promise.all([stat(from), stat(path).catch(() => undefined)]);
  if (copy && copy.mtimeMs >= source.mtimeMs) return;
  await mkdir(codexHome, { recursive: true, mode: 0o700 });
  await copyFile(from, `${path}.new`);
  await chmod(`${path}.new`, 0o600);
  await rename(`${path}.new`, path);
}
