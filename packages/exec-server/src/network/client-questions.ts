import { EXEC_LIMITS } from "../limits.ts";
import { type NetworkAnswer, networkAnswer, NOT_ALLOWED } from "../wire/network-proxy.ts";

interface Pending {
  readonly settle: (result: unknown) => void;
}

/** Questions of the server to the client of one session. Each comes to an end: answered, too late, or withdrawn. */
export class ClientQuestions {
  readonly #send: (text: string) => boolean;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;

  /** @param send Gives a message to the client; false when there is none. */
  constructor(send: (text: string) => boolean) {
    this.#send = send;
  }

  /** Asks, and gives what the client answers; undefined when no answer came, for whatever reason. */
  async ask(
    method: string,
    params: object,
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  ): Promise<unknown> {
    if (signal.aborted || this.#pending.size >= EXEC_LIMITS.clientQuestions) return undefined;
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { settle: resolve });
    const withdraw = (): void => resolve(undefined);
    // 2^31 - 1 is the longest that a timer can wait.
    const limit = setTimeout(withdraw, Math.min(timeoutMs, 2_147_483_647));
    limit.unref();
    signal.addEventListener("abort", withdraw, { once: true });
    if (!this.#send(JSON.stringify({ id, method, params }))) withdraw();
    try {
      return await promise;
    } finally {
      clearTimeout(limit);
      signal.removeEventListener("abort", withdraw);
      this.#pending.delete(id);
    }
  }

  /** Takes an answer; false when nothing of the kind was ever asked. An answer that comes too late is passed over. */
  take(id: string, result: unknown): boolean {
    const number = /^[1-9]\d*$/.test(id) ? Number(id) : Infinity;
    if (number >= this.#nextId) return false;
    this.#pending.get(number)?.settle(result);
    return true;
  }

  /** The client has disconnected: open questions stay unanswered. */
  withdrawAll(): void {
    for (const { settle } of this.#pending.values()) settle(undefined);
  }
}

/** Parses a client's answer. An invalid one is a denial. */
export function readPolicyAnswer(result: unknown): NetworkAnswer {
  const parsed = networkAnswer.safeParse(result);
  if (!parsed.success) return NOT_ALLOWED;
  const { decision } = parsed.data;
  if (decision.type === "allow") return decision;
  const { type, reason } = decision;
  if (reason === "") return { type, reason: "policy_denied" };
  const tooLong = Buffer.byteLength(reason) > EXEC_LIMITS.policyReasonBytes;
  return tooLong || /\p{Cc}/u.test(reason) ? NOT_ALLOWED : decision;
}
