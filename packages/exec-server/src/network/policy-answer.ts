import { EXEC_LIMITS } from "../limits.ts";
import { type NetworkAnswer, networkAnswer, NOT_ALLOWED } from "../wire/network-proxy.ts";

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
