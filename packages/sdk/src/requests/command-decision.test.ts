import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCommandDecision, limitToAvailable } from "./command-decision.ts";
import { type CommandDecision, decisions } from "./decisions.ts";

describe("a decision on a command", () => {
  it("is sent unchanged if it is offered, or if the server offers no list", () => {
    const prefix = decisions.acceptWithPrefix(["npm", "test"]);
    expect(limitToAvailable("acceptForSession", null)).toBe("acceptForSession");
    expect(limitToAvailable(prefix, ["accept", prefix, "cancel"])).toBe(prefix);
    expect(limitToAvailable("cancel", ["accept", "cancel"])).toBe("cancel");
  });

  it("becomes the nearest weaker one if it is not offered", () => {
    expect(limitToAvailable("acceptForSession", ["accept", "cancel"])).toBe("accept");
    expect(limitToAvailable(decisions.acceptWithPrefix(["rm"]), ["accept", "cancel"])).toBe("accept");
    expect(limitToAvailable(decisions.allowHost("a.example"), ["accept", "cancel"])).toBe("accept");
    expect(limitToAvailable(decisions.denyHost("a.example"), ["accept", "cancel"])).toBe("decline");
    expect(limitToAvailable("accept", ["acceptForSession", "cancel"])).toBe("decline");
    expect(limitToAvailable("cancel", ["accept"])).toBe("decline");
  });

  it("may be narrower than the offer, never wider", () => {
    const available = ["accept", decisions.acceptWithPrefix(["npm", "test"])] as const;
    const narrower = decisions.acceptWithPrefix(["npm", "test", "--watch"]);
    expect(limitToAvailable(narrower, available)).toBe(narrower);
    expect(limitToAvailable(decisions.acceptWithPrefix(["npm"]), available)).toBe("accept");
  });

  it("declines with every offer", () => {
    expect(limitToAvailable("decline", ["accept", "cancel"])).toBe("decline");
  });

  it("is rejected if it is not a decision", () => {
    for (const value of [undefined, null, true, "yes", "approved", {}, { accept: true }]) {
      expect(() => parseCommandDecision(value)).toThrow("Invalid input");
    }
    expect(() => parseCommandDecision(decisions.acceptWithPrefix([]))).toThrow("Too small");
  });
});

const words = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 3 });
const host = fc.constantFrom("x.example", "y.example");
const decision: fc.Arbitrary<CommandDecision> = fc.oneof(
  fc.constantFrom("accept", "acceptForSession", "decline", "cancel"),
  words.map((prefix) => decisions.acceptWithPrefix(prefix)),
  host.map((name) => decisions.allowHost(name)),
  host.map((name) => decisions.denyHost(name)),
);

/** Whether a decision allows the current command. */
function runs(value: CommandDecision): boolean {
  if (value === "decline" || value === "cancel") return false;
  return !(
    typeof value === "object" &&
    "applyNetworkPolicyAmendment" in value &&
    value.applyNetworkPolicyAmendment.network_policy_amendment.action === "deny"
  );
}

describe("any decision with any offer", () => {
  it("never becomes more permissive, and is always among the offered ones", () => {
    fc.assert(
      fc.property(decision, fc.array(decision), (wanted, available) => {
        const sent = limitToAvailable(wanted, available);
        expect(runs(wanted) || !runs(sent)).toBe(true);
        // Only the decision itself may be remembered; its replacement may not.
        expect([wanted, "accept", "decline"]).toContain(sent);
        expect(typeof sent !== "string" || ["decline", ...available].includes(sent)).toBe(true);
      }),
    );
  });
});
