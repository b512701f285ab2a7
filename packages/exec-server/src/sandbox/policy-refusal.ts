import { CODES, Refusal } from "../wire/refusal.ts";

/** Refuses a request whose sandbox policy can't be enforced. */
export function policyRefusal(reason: string): Refusal {
  return new Refusal(CODES.invalidParams, `The sandbox can't be enforced. ${reason}`);
}
