import type { v2 } from "@codexkit/protocol";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { CodexError } from "./errors.ts";
import { type OptionKeys, rejectUnknownOptions } from "./options/reject-unknown-options.ts";
import type { AuthTokens, ServerRequestHandlers } from "./requests/handlers.ts";

/** How a launched codex signs in. */
export type CodexAuth =
  | { readonly type: "apiKey"; readonly apiKey: string }
  | {
      readonly type: "tokens";
      /** Supplies ChatGPT tokens at each launch, and new ones (with `refresh`) when Codex finds that they have expired. */
      readonly getTokens: (refresh?: v2.ChatgptAuthTokensRefreshParams) => AuthTokens | Promise<AuthTokens>;
    };

type OptionsOf<Type extends CodexAuth["type"]> = Extract<CodexAuth, { type: Type }>;

const API_KEY: OptionKeys<OptionsOf<"apiKey">> = { type: true, apiKey: true };
const TOKENS: OptionKeys<OptionsOf<"tokens">> = { type: true, getTokens: true };

/**
 * Checks `auth` of `Codex.launch`. A login changes `auth.json`, which would sign the user's other programs out of the account
 * that they are using, so it needs a home that they do not share.
 * @throws {CodexError} `invalid_argument`
 */
export function checkAuth(
  what: string,
  { auth, codexHome }: { auth?: CodexAuth; codexHome?: string | undefined },
): void {
  if (!auth) return;
  const type: string = auth.type;
  if (auth.type === "apiKey") {
    rejectUnknownOptions(`${what}: auth`, auth, API_KEY);
    if (typeof auth.apiKey !== "string" || auth.apiKey.trim() === "")
      throw invalid(`${what}: auth.apiKey is empty.`);
  } else if (auth.type === "tokens") {
    rejectUnknownOptions(`${what}: auth`, auth, TOKENS);
    if (typeof auth.getTokens !== "function") throw invalid(`${what}: auth.getTokens must be a function.`);
  } else {
    throw invalid(`${what}: auth.type must be "apiKey" or "tokens", got ${JSON.stringify(type)}.`);
  }
  const shared = [process.env["CODEX_HOME"], join(homedir(), ".codex")].flatMap((home) =>
    home ? [resolve(home)] : [],
  );
  if (codexHome === undefined || shared.includes(resolve(codexHome))) {
    throw invalid(
      `${what}: auth needs a private codexHome, because a login changes auth.json, which other programs of this user share. Set codexHome to a folder of this program, or remove auth to use the existing credentials.`,
    );
  }
}

/** Creates the login request for a new server. */
export async function toLoginParams(auth: CodexAuth): Promise<v2.LoginAccountParams> {
  if (auth.type === "apiKey") return { type: "apiKey", apiKey: auth.apiKey };
  const { accessToken, chatgptAccountId, chatgptPlanType = null } = await auth.getTokens();
  return { type: "chatgptAuthTokens", accessToken, chatgptAccountId, chatgptPlanType };
}

/** Adds the handler for Codex's requests for new tokens. */
export function withTokenRefresh(
  auth: CodexAuth | undefined,
  handlers: ServerRequestHandlers | undefined,
): ServerRequestHandlers | undefined {
  if (auth?.type !== "tokens") return handlers;
  return { refreshAuthTokens: (request) => auth.getTokens(request), ...handlers };
}

function invalid(message: string): CodexError {
  return new CodexError("invalid_argument", message);
}
