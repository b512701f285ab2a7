import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

/** Where the credentials were found. */
export type CredentialSource = "CODEX_API_KEY" | "OPENAI_API_KEY" | "auth.json";

/** What was found. The secrets are here and nowhere else: nothing of them is logged or put into an error. */
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
      /** When the access token runs out; Codex itself fetches a new one. */
      readonly expiresAt?: Date;
    }
  /** There is a login file, and it holds no login, or is not what Codex writes. */
  | {
      readonly kind: "unusable";
      readonly source: "auth.json";
      readonly path: string;
      readonly reason: string;
    }
  | { readonly kind: "none" };

/** The world that is searched; each part has the obvious default. */
export interface DiscoverCredentialsOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Codex's home; `$CODEX_HOME`, or `.codex` in the person's home. */
  readonly codexHome?: string;
  /** The person's home. */
  readonly home?: string;
  /** Reads a file; rejects with a `code` of `ENOENT` when there is none. */
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
 * Finds what Codex would sign in with: `CODEX_API_KEY`, `OPENAI_API_KEY`, then `auth.json` with a key or with a ChatGPT
 * login. Looks only; nothing is tried or changed. A login that Codex keeps in the system's keyring is not seen.
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
    // The parser's words quote the file, and the file is a secret.
    return unusable(path, "it is not JSON");
  }
  const parsed = authFile.safeParse(json);
  if (!parsed.success) {
    const where = parsed.error.issues.map((issue) => issue.path.join(".") || "the whole file");
    return unusable(path, `it is not what Codex writes (see ${where.join(", ")})`);
  }
  const { auth_mode: mode, OPENAI_API_KEY: key, tokens } = parsed.data;
  const apiKey = key?.trim();
  // A file may hold both; Codex goes by the mode, and files without one are older and mean the key.
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

/** What a JWT says of itself, unchecked: it is only shown. */
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
