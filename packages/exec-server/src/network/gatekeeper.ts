import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { EXEC_LIMITS } from "../limits.ts";
import type { NetworkAnswer, ProxiedRequest } from "../wire/network-proxy.ts";
import type { HostPolicy } from "./host-policy.ts";
import { denial, type Target, type Verdict } from "./verdict.ts";

/** Resolves a name to all of its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Asks the client. Resolves to a denial if that fails. */
export type Ask = (request: ProxiedRequest, signal: AbortSignal) => Promise<NetworkAnswer>;

export type Admission =
  | {
      readonly allowed: true;
      /** The addresses that were checked. Connect to no others. Empty if the name has none. */
      readonly addresses: readonly string[];
    }
  | { readonly allowed: false; readonly verdict: Verdict };

export interface GatekeeperOptions {
  readonly policy: HostPolicy;
  /** If undefined, everything that the policy does not allow is denied. */
  readonly ask: Ask | undefined;
  readonly report: (target: Target, verdict: Verdict) => void;
  readonly resolve?: Resolve;
}

/** Decides about the network requests of one process and reports every decision. */
export class Gatekeeper {
  readonly #options: GatekeeperOptions;
  readonly #resolve: Resolve;

  constructor(options: GatekeeperOptions) {
    this.#options = options;
    this.#resolve = options.resolve ?? systemAddresses;
  }

  async admit(target: Target, signal: AbortSignal): Promise<Admission> {
    const { policy } = this.#options;
    const verdict = await this.#judgeHost(target, signal);
    if (verdict.decision !== "allow") return this.#refuse(target, verdict);
    // Resolved once, after the decision, so that the connection uses the addresses that are checked here.
    const addresses = isIP(target.host) === 0 ? await this.#addresses(target.host) : [target.host];
    const objection = policy.objection(target.host, addresses, target.port);
    if (objection !== undefined) return this.#refuse(target, denial(objection, "baseline_policy"));
    this.#options.report(target, verdict);
    return { allowed: true, addresses };
  }

  /** Refuses a request for a reason other than its host. */
  refuse(target: Target, reason: "method_not_allowed" | "mitm_required"): Admission {
    return this.#refuse(target, denial(reason, "mode_guard"));
  }

  async #judgeHost({ protocol, host, port }: Target, signal: AbortSignal): Promise<Verdict> {
    const { policy, ask } = this.#options;
    const status = policy.statusOf(host);
    if (status === "allowed") return permission("baseline_policy", "allow");
    if (status !== "not_allowed" || !ask) return denial(status, "baseline_policy");
    const answer = await ask({ protocol, host, port }, signal);
    if (answer.type === "allow") return permission("decider", status);
    return denial(answer.reason, "decider", answer.type);
  }

  #refuse(target: Target, verdict: Verdict): Admission {
    this.#options.report(target, verdict);
    return { allowed: false, verdict };
  }

  async #addresses(host: string): Promise<readonly string[]> {
    const { promise: late, resolve } = Promise.withResolvers<readonly string[]>();
    const limit = setTimeout(() => resolve([]), EXEC_LIMITS.proxyLookupTimeoutMs);
    try {
      return await Promise.race([this.#resolve(host), late]);
    } catch {
      return []; // The name can't be resolved.
    } finally {
      clearTimeout(limit);
    }
  }
}

function permission(source: Verdict["source"], reason: string): Verdict {
  return { scope: "domain", decision: "allow", source, reason, policyOverride: source === "decider" };
}

async function systemAddresses(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
