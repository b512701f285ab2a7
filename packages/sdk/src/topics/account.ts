import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { CodexError } from "../errors.ts";
import { callOptions } from "./call-options.ts";
import { openLiveFeed } from "./live-feed.ts";
import { login, type LoginOptions, type PendingLogin, startLogin } from "./login.ts";
import { fromRateLimitsResponse, mergeRateLimits, type RateLimits } from "./rate-limits.ts";
import type { TopicCaller } from "./topic-caller.ts";

export interface ChatgptLogin extends PendingLogin {
  /** The page to open in a browser on the server's machine: it calls back to a port there. */
  readonly authUrl: string;
}

export interface DeviceCodeLogin extends PendingLogin {
  /** The page to open in a browser anywhere. */
  readonly verificationUrl: string;
  /** What the person types there. */
  readonly userCode: string;
}

/** Tokens of a host that signs people in itself; see the handler of `account/chatgptAuthTokens/refresh`. */
export interface ChatgptTokens {
  readonly accessToken: string;
  readonly accountId: string;
  readonly planType?: string;
}

/** Who is signed in, and what they have left. */
export class Account {
  readonly #caller: TopicCaller;

  constructor(caller: TopicCaller) {
    this.#caller = caller;
  }

  /** The account in use; `account` is null when signed out, and when the configured provider needs no OpenAI account. */
  read({
    refresh = false,
    ...options
  }: CallOptions & { refresh?: boolean } = {}): Promise<v2.GetAccountResponse> {
    return this.#caller.request("account/read", { refreshToken: refresh }, options);
  }

  /** Signs in with an API key, which Codex keeps in its home. The key is not tried: a wrong one fails at the first turn. */
  async loginWithApiKey(apiKey: string, options: CallOptions = {}): Promise<void> {
    if (apiKey.trim() === "") throw new CodexError("invalid_argument", "The API key is empty.");
    await login(this.#caller, { type: "apiKey", apiKey }, options);
  }

  /**
   * Begins to sign in with ChatGPT in a browser.
   * @example
   * const { authUrl, completed } = await codex.account.loginWithChatgpt();
   * console.log(`Open ${authUrl}`);
   * await completed;
   */
  loginWithChatgpt(options: LoginOptions = {}): Promise<ChatgptLogin> {
    return startLogin(this.#caller, "chatgpt", options);
  }

  /** Begins to sign in with ChatGPT by a code that the person types on another device. */
  loginWithDeviceCode(options: LoginOptions = {}): Promise<DeviceCodeLogin> {
    return startLogin(this.#caller, "chatgptDeviceCode", options);
  }

  /** Uses tokens that this program holds. Codex asks for fresh ones when they expire, and keeps none on disk. */
  async loginWithTokens(
    { accessToken, accountId, planType }: ChatgptTokens,
    options: CallOptions = {},
  ): Promise<void> {
    const params = { accessToken, chatgptAccountId: accountId, chatgptPlanType: planType ?? null };
    await login(this.#caller, { type: "chatgptAuthTokens", ...params }, options);
  }

  /** Signs out and forgets the credentials in Codex's home. */
  async logout(options: CallOptions = {}): Promise<void> {
    await this.#caller.request("account/logout", undefined, options);
  }

  /** Hears who is signed in now, after each login, switch and logout. */
  onUpdated(listener: (account: v2.AccountUpdatedNotification) => void): Disposable {
    return this.#caller.on("account/updated", listener);
  }

  /** The quotas of a ChatGPT account. Refused for API keys, which have none. */
  rateLimits(options: CallOptions = {}): Promise<v2.GetAccountRateLimitsResponse> {
    return this.#caller.request("account/rateLimits/read", {}, options);
  }

  /**
   * The quotas, and again after each change, with the server's sparse updates merged. A slow reader gets the newest only.
   * When the server refuses to tell the quotas now, it begins with the first update. Ends when the connection does.
   */
  async *watchRateLimits(options: CallOptions = {}): AsyncGenerator<RateLimits, void, undefined> {
    const early: v2.RateLimitSnapshot[] = [];
    let known: RateLimits | undefined;
    await using updates = await openLiveFeed<RateLimits, RateLimits>(this.#caller, {
      what: "Watching the rate limits",
      merge: (_unread, next) => next,
      listen: (push) => [
        this.#caller.on("account/rateLimits/updated", ({ rateLimits }) => {
          if (known === undefined) early.push(rateLimits);
          else push((known = mergeRateLimits(known, rateLimits)));
        }),
      ],
      start: async () => (known = early.reduce(mergeRateLimits, await this.#knownRateLimits(options))),
      signal: options.signal,
    });
    if (updates.started.main !== undefined) yield updates.started;
    yield* updates;
  }

  /** What was used: of the account, or of one thread. */
  usage({
    threadId,
    ...options
  }: CallOptions & { threadId?: string } = {}): Promise<v2.GetAccountTokenUsageResponse> {
    return this.#caller.request("account/usage/read", threadId === undefined ? {} : { threadId }, options);
  }

  /** The logins that Codex keeps side by side. */
  sessions(options: CallOptions = {}): Promise<v2.AccountSessionsResponse> {
    return this.#caller.request("accountSession/list", {}, options);
  }

  /** Switches to another login or workspace. Answers with an address when the person must sign in for it first. */
  switchSession(
    params: v2.AccountSessionsSwitchParams,
    options: CallOptions = {},
  ): Promise<v2.AccountSessionsSwitchResponse> {
    return this.#caller.request("accountSession/switch", params, options);
  }

  async #knownRateLimits(options: CallOptions): Promise<RateLimits> {
    try {
      return fromRateLimitsResponse(await this.rateLimits(callOptions(options)));
    } catch (error) {
      if (error instanceof CodexError && error.code === "request_failed")
        return { main: undefined, byLimitId: {} };
      throw error;
    }
  }
}
