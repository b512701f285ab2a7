import { type Credentials, discoverCredentials } from "codexkit";
import { chmod, copyFile, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/** The source of the daemon's Codex credentials. */
export interface CredentialStatus {
  readonly kind: "apiKey" | "chatgpt" | "unusable" | "none";
  /** `options`: the daemon's options. `codexHome`: a login in the daemon's own Codex home. */
  readonly source: "options" | "CODEX_API_KEY" | "OPENAI_API_KEY" | "auth.json" | "codexHome" | null;
  /** Why the found credentials can't be used. */
  readonly reason?: string;
  /** Only for a ChatGPT login. */
  readonly email?: string;
  /** Milliseconds since the epoch, only for a ChatGPT login. Codex renews it. */
  readonly expiresAt?: number;
}

export interface CredentialOptions {
  /** The daemon's own Codex home. The credentials are stored only there. */
  readonly codexHome: string;
  /** Takes precedence over all other sources. */
  readonly apiKey?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The Codex home of the user. Default: `$CODEX_HOME`, else `~/.codex`. */
  readonly userCodexHome?: string | undefined;
}

/** Variables that contain keys. They are removed from Codex's environment, so that no command can read them. */
export const KEY_VARIABLES = ["CODEX_API_KEY", "OPENAI_API_KEY"] as const;

/**
 * Finds credentials (options, environment, the user's login file) and stores them in the daemon's Codex home. Call it
 * before Codex is launched, because a running Codex refuses to start threads after its login file has changed.
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
  // The user may have logged in with the daemon's own home.
  const own = await discoverCredentials({ env: {}, codexHome });
  if (own.kind === "apiKey" || own.kind === "chatgpt") return { ...statusOf(own), source: "codexHome" };
  return statusOf(found);
}

/** Excludes the secrets from the status. */
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
  // Don't rewrite an unchanged file: a running Codex refuses to start threads after a change.
  const current = await readFile(path, "utf8").catch(() => undefined);
  const known = current === undefined ? undefined : await discoverCredentials({ env: {}, codexHome });
  if (known?.kind === "apiKey" && known.apiKey === apiKey) return;
  await mkdir(codexHome, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Codex renews its copy of a login, so the copy is replaced only by a newer login of the user. */
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
