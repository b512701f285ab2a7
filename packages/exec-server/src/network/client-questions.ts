import { timerDelay } from "@codexkit/rpc/async";
import { EXEC_LIMITS } from "../limits.ts";
import { type NetworkAnswer, networkAnswer, NOT_ALLOWED } from "../wire/network-proxy.ts";

interface Pending {
  readonly settle: (result: unknown) => void;
}

/**
 * Questions from the server to the client of one session. Every question settles: it is answered, times out
 * or is withdrawn.
 */
export class ClientQuestions {
  readonly #send: (text: string) => boolean;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;

  /** @param send Sends a message to the client. Returns false if no client is connected. */
  constructor(send: (text: string) => boolean) {
    this.#send = send;
  }

  /** Asks a question and resolves to the client's answer, or to undefined if there is none for any reason. */
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
    const limit = setTimeout(withdraw, timerDelay(timeoutMs));
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

  /** Delivers an answer. Returns false if no such question was ever asked. Ignores late answers. */
  answer(id: string, result: unknown): boolean {
    const number = /^[1-9]\d*$/.test(id) ? Number(id) : Infinity;
    if (number >= this.#nextId) return false;
    this.#pending.get(number)?.settle(result);
    return true;
  }

  /** Called when the client has disconnected. Pending questions remain unanswered. */
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
