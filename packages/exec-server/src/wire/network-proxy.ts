import * as z from "zod";

// Strict, unlike the rest of the protocol, because an unknown member may be a restriction.
const proxy = z.strictObject({
  enabled: z.boolean(),
  enableSocks5: z.boolean(),
  enableSocks5Udp: z.boolean(),
  allowUpstreamProxy: z.boolean(),
  dangerouslyAllowAllUnixSockets: z.boolean(),
  mode: z.enum(["full", "limited"]),
  domains: z.record(z.string(), z.enum(["allow", "deny", "none"])).nullish(),
  /** Hosts about which the client is asked even if the domains allow them. */
  reviewDomains: z.array(z.string()).nullish(),
  unixSockets: z.record(z.string(), z.enum(["allow", "deny", "none"])).nullish(),
  allowLocalBinding: z.boolean(),
});

export const networkProxy = z.strictObject({
  proxy,
  auditMetadata: z.unknown().optional(),
  environmentId: z.string().nullish(),
  executionId: z.string().nullish(),
  policyDecisionTimeoutMs: z.number().int().min(0).nullish(),
});

/** The network that a process may reach, always through a proxy on the server's side. */
export type NetworkProxyParams = z.input<typeof networkProxy>;
export type NetworkProxyConfig = z.output<typeof proxy>;

export type NetworkProtocol = "http" | "https_connect" | "socks5_tcp" | "socks5_udp";

/** A request to a host about which the policy does not decide. The client is asked. */
export interface ProxiedRequest {
  readonly protocol: NetworkProtocol;
  readonly host: string;
  readonly port: number;
}

const reason = z.string();

export const networkAnswer = z.object({
  decision: z.discriminatedUnion("type", [
    z.object({ type: z.literal("allow") }),
    z.object({ type: z.literal("deny"), reason }),
    z.object({ type: z.literal("ask"), reason }),
  ]),
});

/** The client's answer. `ask` also refuses, with the reason that a person would have to be asked. */
export type NetworkAnswer = z.output<typeof networkAnswer>["decision"];

/** The outcome of one network request of a process. */
export interface NetworkDecision extends ProxiedRequest {
  readonly processId: string;
  readonly timestamp: string;
  readonly scope: "domain" | "non_domain";
  readonly decision: "allow" | "deny" | "ask";
  readonly source: "baseline_policy" | "mode_guard" | "proxy_state" | "decider";
  readonly reason: string;
  readonly method?: string;
  readonly client?: string;
  /** Whether the client allowed a request that the policy alone would not allow. */
  readonly policyOverride: boolean;
}

/** Used if there is no answer, or one that can't be parsed. */
export const NOT_ALLOWED = { type: "deny", reason: "not_allowed" } as const satisfies NetworkAnswer;
