import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { DisposableStack } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import { callOptions } from "./call-options.ts";
import { NoticeWaiter } from "./notice-waiter.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** How a login that needs a person goes on. */
export interface LoginOptions extends CallOptions {
  /** How long the person may take. Default: ten minutes. */
  readonly completionTimeoutMs?: number;
}

/** A login that a person finishes in a browser. Starting another one cancels it. */
export interface PendingLogin {
  readonly loginId: string;
  /** Resolves when the person signed in; rejects when it failed, was cancelled, or took too long. */
  readonly completed: Promise<void>;
  /** Gives the login up; false when there was nothing left to give up. */
  cancel(options?: CallOptions): Promise<boolean>;
}

const LOGIN_LIMITS = {
  /** A person with a second factor in another room. */
  completionMs: 10 * 60_000,
  /** How long the server may take to use a key or tokens that it has taken. */
  takenMs: 30_000,
} as const;

/** What the server answers when a person has to go on. */
type PersonalLogin = Extract<v2.LoginAccountResponse, { loginId: string }>;

/** Starts a login that a person finishes, and waits for it beside the caller. */
export async function startLogin<Kind extends PersonalLogin["type"]>(
  caller: TopicCaller,
  type: Kind,
  { completionTimeoutMs = LOGIN_LIMITS.completionMs, ...options }: LoginOptions,
): Promise<Extract<PersonalLogin, { type: Kind }> & PendingLogin> {
  using stack = new DisposableStack();
  const waiter = stack.use(new NoticeWaiter(caller, "account/login/completed"));
  // The answer is of the kind that was asked for.
  const answer = await caller.request("account/login/start", { type }, callOptions(options));
  const started = answer as PersonalLogin as Extract<PersonalLogin, { type: Kind }>;
  stack.move();
  const { loginId } = answer as PersonalLogin;
  const cancel = async (call: CallOptions = {}): Promise<boolean> => {
    const { status } = await caller.request("account/login/cancel", { loginId }, call);
    return status === "canceled";
  };
  const wait = { timeoutMs: completionTimeoutMs, ...(options.signal ? { signal: options.signal } : {}) };
  const completed = waiter
    .until((notice) => notice.loginId === loginId, wait)
    .then(checkSuccess, async (error: unknown) => {
      // A server that is there would go on listening for the browser; one that is gone must not be started for this.
      const gaveUp = error instanceof CodexError && (error.code === "aborted" || error.code === "timeout");
      if (gaveUp) await cancel().catch(() => {});
      throw error;
    })
    .finally(() => waiter[Symbol.dispose]());
  // Whoever only shows the address does not look at the end of the login; that must not end the program.
  completed.catch(() => {});
  return { ...started, completed, cancel };
}

/** A login that needs no person: done when the server says that it uses what it was given. */
export async function login(
  caller: TopicCaller,
  params: v2.LoginAccountParams,
  options: CallOptions,
): Promise<void> {
  using waiter = new NoticeWaiter(caller, "account/login/completed");
  await caller.request("account/login/start", params, options);
  checkSuccess(
    await waiter.until((notice) => notice.loginId === null, { timeoutMs: LOGIN_LIMITS.takenMs, ...options }),
  );
}

function checkSuccess({ success, error }: v2.AccountLoginCompletedNotification): void {
  if (!success)
    throw new CodexError("request_failed", `The login failed: ${error ?? "no reason was given"}.`);
}
