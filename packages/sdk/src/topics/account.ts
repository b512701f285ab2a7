import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { CodexError } from "../errors.ts";
import { pickCallOptions } from "./pick-call-options.ts";
import { openSubscription } from "./subscription.ts";
import { login, type LoginOptions, type PendingLogin, startLogin } from "./login.ts";
import { fromRateLimitsResponse, mergeRateLimits, type RateLimits } from "./rate-limits.ts";
import type { TopicCaller } from "./topic-caller.ts";

export interface ChatgptLogin extends PendingLogin {
  /** URL to open in a browser on the server's machine: the login redirects to a port there. */
  readonly authUrl: string;
}

export interface DeviceCodeLogin extends PendingLogin {
  /** URL to open in any browser. */
  readonly verificationUrl: string;
  /** Code to enter on that page. */
  readonly userCode: string;
}

/** Tokens of a program that signs users in itself. The `refreshAuthTokens` handler supplies new ones. */
export interface ChatgptTokens {
  readonly accessToken: string;
  readonly accountId: string;
  readonly planType?: string;
}

/** The signed-in account, its quotas and its logins. */
export class Account {
  readonly #caller: TopicCaller;

  constructor(caller: TopicCaller) {
    this.#caller = caller;
  }

  /** Reads the active account. `account` is null when signed out or when the configured provider needs no OpenAI account. */
  read({
    refresh = false,
    ...options
  }: CallOptions & { refresh?: boolean } = {}): Promise<v2.GetAccountResponse> {
    return this.#caller.request("account/read", { refreshToken: refresh }, options);
  }

  /** Signs in with an API key, which Codex stores in its home. The key is not verified: an invalid one fails the first turn. */
  async loginWithApiKey(apiKey: string, options: CallOptions = {}): Promise<void> {
    if (apiKey.trim() === "") throw new CodexError("invalid_argument", "The API key is empty.");
    await login(this.#caller, { type: "apiKey", apiKey }, options);
  }

  /**
   * Starts a ChatGPT login in a browser.
   * @example
   * const { authUrl, completed } = await codex.account.loginWithChatgpt();
   * console.log(`Open ${authUrl}`);
   * await completed;
   */
  loginWithChatgpt(options: LoginOptions = {}): Promise<ChatgptLogin> {
    return startLogin(this.#caller, "chatgpt", options);
  }

  /** Starts a ChatGPT login with a code that the user enters on another device. */
  loginWithDeviceCode(options: LoginOptions = {}): Promise<DeviceCodeLogin> {
    return startLogin(this.#caller, "chatgptDeviceCode", options);
  }

  /** Signs in with tokens that this program manages. Codex requests new ones when they expire and stores none on disk. */
  async loginWithTokens(
    { accessToken, accountId, planType }: ChatgptTokens,
    options: CallOptions = {},
  ): Promise<void> {
    const params = { accessToken, chatgptAccountId: accountId, chatgptPlanType: planType ?? null };
    await login(this.#caller, { type: "chatgptAuthTokens", ...params }, options);
  }

  /** Signs out and deletes the credentials in Codex's home. */
  async logout(options: CallOptions = {}): Promise<void> {
    await this.#caller.request("account/logout", undefined, options);
  }

  /** Calls the listener after each login, switch and logout. */
  onUpdated(listener: (account: v2.AccountUpdatedNotification) => void): Disposable {
    return this.#caller.on("account/updated", listener);
  }

  /** Reads the quotas of a ChatGPT account. Rejects for API keys, which have none. */
  rateLimits(options: CallOptions = {}): Promise<v2.GetAccountRateLimitsResponse> {
    return this.#caller.request("account/rateLimits/read", {}, options);
  }

  /**
   * Yields the quotas now and after each change, with the server's sparse updates merged. A slow reader gets only the newest.
   * If the server can't report the quotas yet, the first update comes first. Ends with the connection.
   */
  async *watchRateLimits(options: CallOptions = {}): AsyncGenerator<RateLimits, void, undefined> {
    const early: v2.RateLimitSnapshot[] = [];
    let known: RateLimits | undefined;
    await using updates = await openSubscription<RateLimits, RateLimits>(this.#caller, {
      what: "Watching the rate limits",
      merge: (_unread, next) => next,
      listen: (push) => [
        this.#caller.on("account/rateLimits/updated", ({ rateLimits }) => {
          if (known === undefined) early.push(rateLimits);
          else push((known = mergeRateLimits(known, rateLimits)));
        }),
      ],
      start: async () => (known = early.reduce(mergeRateLimits, await this.#readRateLimits(options))),
      signal: options.signal,
    });
    if (updates.started.main !== undefined) yield updates.started;
    yield* updates;
  }

  /** Reads the token usage of the account or of one thread. */
  usage({
    threadId,
    ...options
  }: CallOptions & { threadId?: string } = {}): Promise<v2.GetAccountTokenUsageResponse> {
    return this.#caller.request("account/usage/read", threadId === undefined ? {} : { threadId }, options);
  }

  /** Lists the logins that Codex has stored. */
  sessions(options: CallOptions = {}): Promise<v2.AccountSessionsResponse> {
    return this.#caller.request("accountSession/list", {}, options);
  }

  /** Switches to another login or workspace. The response has a URL if the user must sign in first. */
  switchSession(
    params: v2.AccountSessionsSwitchParams,
    options: CallOptions = {},
  ): Promise<v2.AccountSessionsSwitchResponse> {
    return this.#caller.request("accountSession/switch", params, options);
  }

  async #readRateLimits(options: CallOptions): Promise<RateLimits> {
    try {
      return fromRateLimitsResponse(await this.rateLimits(pickCallOptions(options)));
    } catch (error) {
      if (error instanceof CodexError && error.code === "request_failed")
        return { main: undefined, byLimitId: {} };
      throw error;
    }
  }
}
