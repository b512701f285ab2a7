import { EXEC_LIMITS } from "../limits.ts";
import { type NetworkAnswer, networkAnswer } from "../wire/network-proxy.ts";

/** What holds when nobody answered, or nobody could be understood. */
export const NOT_ALLOWED = { type: "deny", reason: "not_allowed" } as const satisfies NetworkAnswer;

/** Reads a client's answer; everything but a clear one is a denial. */
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
