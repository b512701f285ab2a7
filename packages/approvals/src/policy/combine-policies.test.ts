import { describe, expect, it } from "vitest";
import { combinePolicies } from "./combine-policies.ts";
import { definePolicy, parsePolicy, remember } from "./define-policy.ts";
import { evaluatePolicy } from "./evaluate-policy.ts";
import type { Policy, PolicyInput } from "./policy.ts";

const make = (input: PolicyInput): Policy => definePolicy({ workspace: "/srv/app", ...input });
const decide = (policy: Policy, command: string): string =>
  evaluatePolicy(policy, { kind: "command", command, cwd: "/srv/app" }).decision;

describe("layered policies", () => {
  it("keep the organisation's denials and questions", () => {
    const { policy } = combinePolicies({
      organization: make({ deny: ["frob"], ask: ["ls"] }),
      person: make({ additionalAllow: ["frob", "ls", "grob"] }),
    });
    expect(decide(policy, "frob x")).toBe("deny");
    expect(decide(policy, "ls")).toBe("ask");
    expect(decide(policy, "grob")).toBe("allow");
  });

  it("let a project only tighten, and report its ignored settings", () => {
    const { policy, ignored } = combinePolicies({
      project: make({
        preset: "bypass",
        deny: ["cat"],
        ask: ["pwd"],
        additionalAllow: ["frob"],
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

  it("use the strictest preset and default of all layers", () => {
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
      person: make({ additionalAllow: ["cat"] }),
    });
    expect(decide(policy, "ls")).toBe("allow");
    expect(decide(policy, "cat x")).toBe("ask");
    expect(ignored).toHaveLength(1);
  });

  it.each<readonly [PolicyInput, readonly string[], string]>([
    [{ effects: { install: "deny" } }, ["npm install"], "npm install"],
    [{ effects: { install: "ask" } }, ["npm install"], "npm install"],
    [{ preset: "read-only" }, ["rm", "npm test"], "rm a"],
    [{ preset: "read-only" }, ["rm", "npm test"], "npm test"],
    [{ preset: "read-only" }, ["frob"], "frob"],
    [{ preset: "developer" }, ["touch"], "touch /opt/x"],
  ])("don't let a person allow what %j does not, by %j: %s", (organization, additionalAllow, command) => {
    const { policy } = combinePolicies({
      organization: make(organization),
      person: make({ additionalAllow }),
    });
    expect(decide(policy, command)).not.toBe("allow");
    expect(decide(parsePolicy(structuredClone(policy)), command)).not.toBe("allow");
    expect(decide(remember(policy, [{ kind: "script", text: command }]), command)).not.toBe("allow");
  });

  it("let a person allow hosts and MCP tools", () => {
    const { policy } = combinePolicies({
      organization: make({}),
      person: make({
        additionalAllow: [{ kind: "mcp", server: "s" }],
        network: { allow: ["api.example.org"] },
      }),
    });
    expect(decide(policy, "curl https://api.example.org/")).toBe("allow");
    expect(evaluatePolicy(policy, { kind: "mcpTool", server: "s", tool: "t" }).decision).toBe("allow");
  });

  it.each([
    { workspace: "/" },
    { workspace: "/opt" },
    { workspace: { temp: ["/opt"] } },
    { workspace: { roots: ["/srv/app", "/opt"] } },
  ])("keep the organisation's folders: %j", (person) => {
    const { policy, ignored } = combinePolicies({
      organization: make({ workspace: { roots: ["/srv/app"], temp: [] } }),
      person: make(person),
    });
    expect(decide(policy, "touch /opt/x")).not.toBe("allow");
    expect(decide(policy, "touch /srv/app/x")).toBe("allow");
    expect(ignored.length).toBeGreaterThan(0);
  });
});

it("a project can't allow loopback or private addresses", () => {
  const project = definePolicy({ network: { loopback: "allow", private: "allow" } });
  for (const preset of ["read-only", "workspace-write", "developer"] as const) {
    const person = definePolicy({ preset, workspace: "/srv/app" });
    const { policy, ignored } = combinePolicies({ project, person });
    for (const host of ["10.0.0.5", "localhost"]) {
      const request = { kind: "command", command: `curl http://${host}/`, cwd: "/srv/app" } as const;
      expect(evaluatePolicy(policy, request).decision).toBe(evaluatePolicy(person, request).decision);
    }
    expect(ignored).toContain('The project\'s network.private = "allow" is ignored.');
  }
  const strict = definePolicy({ network: { loopback: "deny" } });
  const person = definePolicy({ workspace: "/srv/app", network: { loopback: "allow" } });
  expect(combinePolicies({ project: strict, person }).policy.network.loopback).toBe("deny");
});
