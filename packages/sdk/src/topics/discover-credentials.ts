import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

/** Where the credentials were found. */
export type CredentialSource = "CODEX_API_KEY" | "OPENAI_API_KEY" | "auth.json";

/** The discovered credentials. Only this value holds the secrets: they are never logged or included in errors. */
export type Credentials =
  | {
      readonly kind: "apiKey";
      readonly source: CredentialSource;
      readonly apiKey: string;
      readonly path?: string;
    }
  | {
      readonly kind: "chatgpt";
      readonly source: "auth.json";
      readonly path: string;
      readonly accessToken: string;
      readonly accountId?: string;
      readonly email?: string;
      /** When the access token expires. Codex renews it. */
      readonly expiresAt?: Date;
    }
  /** The login file exists, but it holds no login or has an unknown format. */
  | {
      readonly kind: "unusable";
      readonly source: "auth.json";
      readonly path: string;
      readonly reason: string;
    }
  | { readonly kind: "none" };

/** Overrides for the locations to search. */
export interface DiscoverCredentialsOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Codex's home. Default: `$CODEX_HOME`, else `.codex` in the user's home. */
  readonly codexHome?: string;
  /** The user's home directory. */
  readonly home?: string;
  /** Reads a file. Rejects with `code: "ENOENT"` if it does not exist. */
  readonly readFile?: (path: string) => Promise<string>;
}

const authFile = z.object({
  auth_mode: z.string().nullish(),
  OPENAI_API_KEY: z.string().nullish(),
  tokens: z
    .object({
      access_token: z.string().min(1),
      account_id: z.string().nullish(),
      id_token: z.string().nullish(),
    })
    .nullish(),
});

/**
 * Finds the credentials that Codex would use: `CODEX_API_KEY`, `OPENAI_API_KEY`, then `auth.json` with a key or a ChatGPT
 * login. Nothing is verified or changed. Logins in the system keyring are not found.
 */
export async function discoverCredentials(options: DiscoverCredentialsOptions = {}): Promise<Credentials> {
  const { env = process.env, readFile: read = (path: string) => readFile(path, "utf8") } = options;
  for (const source of ["CODEX_API_KEY", "OPENAI_API_KEY"] as const) {
    const apiKey = env[source]?.trim();
    if (apiKey) return { kind: "apiKey", source, apiKey };
  }
  const codexHome = options.codexHome ?? (env["CODEX_HOME"] || join(options.home ?? homedir(), ".codex"));
  const path = join(codexHome, "auth.json");
  try {
    return fromAuthFile(path, await read(path));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "none" };
    return unusable(path, `it can't be read (${code ?? "unknown reason"})`);
  }
}

function fromAuthFile(path: string, text: string): Credentials {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's message quotes the file, which is a secret.
    return unusable(path, "it is not JSON");
  }
  const parsed = authFile.safeParse(json);
  if (!parsed.success) {
    const where = parsed.error.issues.map((issue) => issue.path.join(".") || "the whole file");
    return unusable(path, `it is not what Codex writes (see ${where.join(", ")})`);
  }
  const { auth_mode: mode, OPENAI_API_KEY: key, tokens } = parsed.data;
  const apiKey = key?.trim();
  // A file may hold both. Codex follows the mode; older files have no mode and use the key.
  if (apiKey && !(mode === "chatgpt" && tokens)) return { kind: "apiKey", source: "auth.json", apiKey, path };
  if (!tokens) return unusable(path, "it holds no login");
  const claims = { ...readClaims(tokens.id_token ?? ""), ...readClaims(tokens.access_token) };
  return {
    kind: "chatgpt",
    source: "auth.json",
    path,
    accessToken: tokens.access_token,
    ...(tokens.account_id ? { accountId: tokens.account_id } : {}),
    ...(claims.email === undefined ? {} : { email: claims.email }),
    ...(claims.exp === undefined ? {} : { expiresAt: new Date(claims.exp * 1000) }),
  };
}

const jwtClaims = z.object({ email: z.string().optional(), exp: z.number().optional() });

/** Reads a JWT's claims without verifying them. They are for display only. */
function readClaims(token: string): z.infer<typeof jwtClaims> {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    return jwtClaims.parse(claims);
  } catch {
    return {};
  }
}

function unusable(path: string, reason: string): Credentials {
  return { kind: "unusable", source: "auth.json", path, reason };
}
