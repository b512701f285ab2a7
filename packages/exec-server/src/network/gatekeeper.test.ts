import { describe, expect, test } from "vitest";
import type { NetworkAnswer, ProxiedRequest } from "../wire/network-proxy.ts";
import { Gatekeeper } from "./gatekeeper.ts";
import { HostPolicy } from "./host-policy.ts";
import type { Target, Verdict } from "./verdict.ts";

const signal = new AbortController().signal;
const target = (host: string): Target => ({ protocol: "http", host, port: 80, method: "GET" });

/** A gatekeeper before a made-up DNS: what it asked, looked up and reported. */
function gatekeeper(
  names: Readonly<Record<string, readonly string[]>>,
  { answer, ...config }: { answer?: NetworkAnswer; domains?: Record<string, "allow" | "deny"> } = {},
) {
  const asked: ProxiedRequest[] = [];
  const lookedUp: string[] = [];
  const reported: Verdict[] = [];
  const ask = async (request: ProxiedRequest): Promise<NetworkAnswer> => {
    asked.push(request);
    return answer ?? { type: "deny", reason: "no" };
  };
  const keeper = new Gatekeeper({
    policy: new HostPolicy({ allowLocalBinding: false, ...config }),
    ask: answer ? ask : undefined,
    report: (_target, verdict) => reported.push(verdict),
    resolve: async (host) => {
      lookedUp.push(host);
      const addresses = names[host];
      if (!addresses) throw new Error("ENOTFOUND");
      return addresses;
    },
  });
  return { admit: (host: string) => keeper.admit(target(host), signal), asked, lookedUp, reported };
}

const allow = { "name.test": "allow" } as const;

describe("a name", () => {
  test("is looked up once, and its addresses are what may be connected to", async () => {
    const it = gatekeeper({ "name.test": ["1.1.1.1", "1.0.0.1"] }, { domains: allow });
    expect(await it.admit("name.test")).toEqual({ allowed: true, addresses: ["1.1.1.1", "1.0.0.1"] });
    expect(it.lookedUp).toEqual(["name.test"]);
    expect(it.reported).toMatchObject([{ decision: "allow", source: "baseline_policy", reason: "allow" }]);
  });

  test("that leads to a private address is refused, though it is allowed", async () => {
    for (const addresses of [["10.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["::ffff:192.168.1.1"]]) {
      const it = gatekeeper({ "name.test": addresses }, { domains: allow });
      expect(await it.admit("name.test")).toMatchObject({ verdict: { reason: "not_allowed_local" } });
      expect(it.reported).toMatchObject([{ decision: "deny", source: "baseline_policy" }]);
    }
  });

  test("that leads to a private address is refused, though the client allows it", async () => {
    const it = gatekeeper({ "name.test": ["127.0.0.1"] }, { answer: { type: "allow" } });
    expect(await it.admit("name.test")).toMatchObject({ verdict: { reason: "not_allowed_local" } });
    expect(it.reported).toHaveLength(1);
  });

  test("that is not allowed is not even looked up", async () => {
    const it = gatekeeper({ "secret.evil.test": ["1.1.1.1"] });
    expect(await it.admit("secret.evil.test")).toMatchObject({ verdict: { reason: "not_allowed" } });
    expect(it.lookedUp).toEqual([]);
  });

  test("that can't be resolved is not connected to", async () => {
    const it = gatekeeper({}, { domains: allow });
    expect(await it.admit("name.test")).toEqual({ allowed: true, addresses: [] });
  });
});

describe("the client", () => {
  test("is asked only about what the policy leaves open", async () => {
    const answer = { type: "allow" } as const;
    const it = gatekeeper(
      { "name.test": ["1.1.1.1"], "open.test": ["1.1.1.1"] },
      { answer, domains: { ...allow, "bad.test": "deny" } },
    );
    for (const host of ["name.test", "bad.test", "127.0.0.1", "open.test"]) await it.admit(host);
    expect(it.asked).toEqual([{ protocol: "http", host: "open.test", port: 80 }]);
    expect(it.reported.map(({ decision, source }) => `${decision} by ${source}`)).toEqual([
      "allow by baseline_policy",
      "deny by baseline_policy",
      "deny by baseline_policy",
      "allow by decider",
    ]);
  });
});
