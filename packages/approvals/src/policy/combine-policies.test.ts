import { describe, expect, it } from "vitest";
import { combinePolicies } from "./combine-policies.ts";
import { definePolicy } from "./define-policy.ts";
import { evaluate } from "./evaluate.ts";
import type { Policy, PolicyInput } from "./policy.ts";

const make = (input: PolicyInput): Policy => definePolicy({ workspace: "/srv/app", ...input });
const decide = (policy: Policy, command: string): string =>
  evaluate(policy, { kind: "command", command, cwd: "/srv/app" }).decision;

describe("layered policies", () => {
  it("keep the organisation's denials and questions", () => {
    const { policy } = combinePolicies({
      organization: make({ deny: ["frob"], ask: ["ls"] }),
      person: make({ alsoAllow: ["frob", "ls", "grob"] }),
    });
    expect(decide(policy, "frob x")).toBe("deny");
    expect(decide(policy, "ls")).toBe("ask");
    expect(decide(policy, "grob")).toBe("allow");
  });

  it("let a project only tighten, and report what it tried", () => {
    const { policy, ignored } = combinePolicies({
      project: make({
        preset: "bypass",
        deny: ["cat"],
        ask: ["pwd"],
        alsoAllow: ["frob"],
        network: { allow: ["evil.example"] },
        effects: { system: "allow", write: "deny" },
      }),
      person: make({}),
    });
    expect(policy.preset).toBe("developer");
    expect(decide(policy, "cat x")).toBe("deny");
    expect(decide(policy, "pwd")).toBe("ask");
    expect(decide(policy, "frob")).toBe("ask");
    expect(decide(policy, "touch x")).toBe("deny");
    expect(policy.network.allow).toEqual([]);
    expect(policy.effects).toEqual({ write: "deny" });
    expect(ignored).toHaveLength(3);
  });

  it("take the strictest preset and default of all", () => {
    const { policy } = combinePolicies({
      organization: make({ preset: "workspace-write" }),
      project: make({ preset: "developer", default: "deny" }),
      person: make({ preset: "danger-full-access", effects: { "project-code": "allow", write: "allow" } }),
    });
    expect(policy).toMatchObject({ preset: "workspace-write", default: "deny", effects: { write: "allow" } });
    expect(decide(policy, "./x.sh")).toBe("deny");
  });

  it("treat the organisation's allow list as complete", () => {
    const { policy, ignored } = combinePolicies({
      organization: make({ allow: ["ls"] }),
      person: make({ alsoAllow: ["cat"] }),
    });
    expect(decide(policy, "ls")).toBe("allow");
    expect(decide(policy, "cat x")).toBe("ask");
    expect(ignored).toHaveLength(1);
  });
});
