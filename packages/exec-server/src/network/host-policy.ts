import { isIP } from "node:net";
import type { NetworkProxyConfig } from "../wire/network-proxy.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import { isLoopback, isPublic, isThisMachine } from "./address-kind.ts";
import { spellingsOf } from "./address-spelling.ts";
import { canonicalHost } from "./host-name.ts";
import { type HostMatcher, hostPattern, isExactPattern } from "./host-pattern.ts";

/** The policy's status of a host before the client is asked. Codex's terms, which its clients match. */
export type HostStatus = "allowed" | "denied" | "not_allowed" | "not_allowed_local";

/** Which hosts and addresses a process may reach. */
export class HostPolicy {
  readonly #denied: readonly HostMatcher[];
  readonly #allowed: readonly HostMatcher[];
  readonly #reviewed: readonly HostMatcher[];
  /** Hosts that are allowed by name and not by a wildcard, as local hosts have to be. */
  readonly #named: ReadonlySet<string>;
  readonly #local: boolean;
  readonly #ownPort: () => number | undefined;

  /**
   * @param ownPort The port of this server. A process that can reach it could run anything outside the
   * sandbox.
   */
  constructor(
    {
      domains,
      reviewDomains,
      allowLocalBinding,
    }: Pick<NetworkProxyConfig, "domains" | "reviewDomains" | "allowLocalBinding">,
    ownPort: () => number | undefined = () => undefined,
  ) {
    const rules = Object.entries(domains ?? {});
    const patterns = (access: string): string[] =>
      rules.filter(([, given]) => given === access).map(([pattern]) => pattern);
    if (patterns("deny").some((pattern) => pattern.trim() === "*")) {
      const message =
        "invalid network proxy config: the pattern * can't be denied. Leave out the domains to allow no host.";
      throw new Refusal(CODES.invalidParams, message);
    }
    this.#denied = patterns("deny").map(hostPattern);
    this.#allowed = patterns("allow").map(hostPattern);
    this.#reviewed = (reviewDomains ?? []).map(hostPattern);
    this.#named = new Set(
      patterns("allow")
        .filter(isExactPattern)
        .flatMap((pattern) => canonicalHost(pattern.trim()) ?? []),
    );
    this.#local = allowLocalBinding;
    this.#ownPort = ownPort;
  }

  /** Checks a name before it is resolved, because even a DNS query would leave the machine. */
  statusOf(host: string): HostStatus {
    if (this.#isDenied(host)) return "denied";
    if (isLocalName(host) && !this.#local && !this.#named.has(host)) return "not_allowed_local";
    if (this.#reviewed.some((matches) => matches(host))) return "not_allowed";
    return this.#allowed.some((matches) => matches(host)) ? "allowed" : "not_allowed";
  }

  /**
   * Returns why an allowed host must not be reached at these addresses. The owner of a name can point it
   * anywhere.
   */
  objection(host: string, addresses: readonly string[], port: number): HostStatus | undefined {
    if (addresses.some((address) => this.#isDenied(address))) return "denied";
    if (addresses.some((address) => !this.#mayBeReached(host, address, port))) return "not_allowed_local";
    return undefined;
  }

  /** An address is denied in every notation. */
  #isDenied(host: string): boolean {
    const spellings = isIP(host) === 0 ? [host] : spellingsOf(host);
    return spellings.some((spelling) => this.#denied.some((matches) => matches(spelling)));
  }

  #mayBeReached(host: string, address: string, port: number): boolean {
    if (port === this.#ownPort() && isThisMachine(address)) return false;
    if (this.#local || isPublic(address)) return true;
    if (!this.#named.has(host)) return false;
    return isIP(host) === 0 ? host === "localhost" && isLoopback(address) : host === address;
  }
}

function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || (isIP(host) !== 0 && !isPublic(host));
}
