import type { Approval, PolicyVerdict } from "@codexkit/daemon/client";
import { expect, it } from "vitest";
import { approvalOf, commandRequest } from "../approvals/approval.fixture.ts";
import { alikeKey, groupAlike } from "./alike.ts";

const verdict = (rule: string, decision: PolicyVerdict["decision"] = "ask"): PolicyVerdict => ({
  decision,
  rule,
  reason: "",
  segments: [{ command: "x", parent: -1, decision, rule, reason: "" }],
});

function command(id: string, rule: string, more: Partial<Approval> = {}): Approval {
  return { ...approvalOf(commandRequest), id, verdict: verdict(rule), ...more };
}

it("groups requests with the same kind and rule", () => {
  const groups = groupAlike([command("1", "a"), command("2", "b"), command("3", "a")]);
  expect([...groups.keys()]).toEqual(["1", "3"]);
  expect(groups.get("3")?.map(({ id }) => id)).toEqual(["1", "3"]);
});

it.each<[string, Partial<Approval>]>([
  ["other decisions are on offer", { offers: [] }],
  ["a part has another rule", { verdict: { ...verdict("a"), segments: verdict("b").segments } }],
])("keeps requests apart if %s", (_why, more) => {
  expect(alikeKey(command("1", "a"))).not.toBe(alikeKey(command("2", "a", more)));
});

it.each<[string, Approval]>([
  ["no verdict", command("1", "a", { verdict: null })],
  ["a part that the policy denies", command("1", "a", { verdict: verdict("a", "deny") })],
  ["a form", { ...command("1", "a"), kind: "elicitation" }],
])("answers a request with %s alone", (_what, approval) => {
  expect(alikeKey(approval)).toBeUndefined();
});
