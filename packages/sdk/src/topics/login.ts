import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { DisposableStack } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import { pickCallOptions } from "./pick-call-options.ts";
import { NotificationWaiter } from "./notification-waiter.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** Options of a login that the user completes. */
export interface LoginOptions extends CallOptions {
  /** How long the user may take. Default: 10 minutes. */
  readonly completionTimeoutMs?: number;
}

/** A login that the user completes in a browser. Starting another login cancels it. */
export interface PendingLogin {
  readonly loginId: string;
  /** Resolves when the user has signed in. Rejects if the login fails, is cancelled, or times out. */
  readonly completed: Promise<void>;
  /** Cancels the login. Resolves to false if it had already ended. */
  cancel(options?: CallOptions): Promise<boolean>;
}

const LOGIN_LIMITS = {
  /** Long enough for a user who has to fetch a second factor. */
  completionMs: 10 * 60_000,
  /** How long the server may take to apply an accepted key or tokens. */
  applyMs: 30_000,
} as const;

/** The server's response to a login that the user has to complete. */
type InteractiveLogin = Extract<v2.LoginAccountResponse, { loginId: string }>;

/** Starts a login that the user completes. Its completion is awaited in the background. */
export async function startLogin<Kind extends InteractiveLogin["type"]>(
  caller: TopicCaller,
  type: Kind,
  { completionTimeoutMs = LOGIN_LIMITS.completionMs, ...options }: LoginOptions,
): Promise<Extract<InteractiveLogin, { type: Kind }> & PendingLogin> {
  using stack = new DisposableStack();
  const waiter = stack.use(new NotificationWaiter(caller, "account/login/completed"));
  // The response has the requested type.
  const answer = await caller.request("account/login/start", { type }, pickCallOptions(options));
  const started = answer as InteractiveLogin as Extract<InteractiveLogin, { type: Kind }>;
  stack.move();
  const { loginId } = answer as InteractiveLogin;
  const cancel = async (call: CallOptions = {}): Promise<boolean> => {
    const { status } = await caller.request("account/login/cancel", { loginId }, call);
    return status === "canceled";
  };
  const wait = { timeoutMs: completionTimeoutMs, ...(options.signal ? { signal: options.signal } : {}) };
  const completed = waiter
    .until((notice) => notice.loginId === loginId, wait)
    .then(checkSuccess, async (error: unknown) => {
      // A live server would keep listening for the browser. A lost one must not be launched again just to cancel.
      const gaveUp = error instanceof CodexError && (error.code === "aborted" || error.code === "timeout");
      if (gaveUp) await cancel().catch(() => {});
      throw error;
    })
    .finally(() => waiter[Symbol.dispose]());
  // A caller may show the URL and ignore `completed`. That must not be an unhandled rejection.
  completed.catch(() => {});
  return { ...started, completed, cancel };
}

/** Completes a login without the user. Resolves when the server confirms that it uses the credentials. */
export async function login(
  caller: TopicCaller,
  params: v2.LoginAccountParams,
  options: CallOptions,
): Promise<void> {
  using waiter = new NotificationWaiter(caller, "account/login/completed");
  await caller.request("account/login/start", params, options);
  checkSuccess(
    await waiter.until((notice) => notice.loginId === null, { timeoutMs: LOGIN_LIMITS.applyMs, ...options }),
  );
}

function checkSuccess({ success, error }: v2.AccountLoginCompletedNotification): void {
  if (!success)
    throw new CodexError("request_failed", `The login failed: ${error ?? "no reason was given"}.`);
}
