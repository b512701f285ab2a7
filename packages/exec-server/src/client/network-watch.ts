import { EXEC_LIMITS } from "../limits.ts";
import {
  type NetworkAnswer,
  type NetworkDecision,
  type NetworkProxyParams,
  type ProxiedRequest,
  NOT_ALLOWED,
} from "../wire/network-proxy.ts";

/** Handlers for the network requests of a process. */
export interface NetworkWatcher {
  /** Decides about one host. The signal aborts when the connection ends. */
  readonly onNetworkRequest?:
    | ((
        request: ProxiedRequest,
        context: { readonly signal: AbortSignal },
      ) => NetworkAnswer["type"] | NetworkAnswer | Promise<NetworkAnswer["type"] | NetworkAnswer>)
    | undefined;
  readonly onNetworkDecision?: ((decision: NetworkDecision) => void) | undefined;
}

/** Handles the network requests of one process for its client. */
export class NetworkWatch {
  readonly #watcher: NetworkWatcher;

  constructor(watcher: NetworkWatcher) {
    this.#watcher = watcher;
  }

  /** Adds a timeout for answers, without which the server does not ask. */
  params(given: NetworkProxyParams | null | undefined): { networkProxy?: NetworkProxyParams } {
    if (!given || !this.#watcher.onNetworkRequest) return {};
    const policyDecisionTimeoutMs = given.policyDecisionTimeoutMs ?? EXEC_LIMITS.networkRequestTimeoutMs;
    return { networkProxy: { ...given, policyDecisionTimeoutMs } };
  }

  /** Decides about a request. A missing or throwing handler denies it. */
  async decide(request: ProxiedRequest, signal: AbortSignal): Promise<NetworkAnswer> {
    try {
      const answer = (await this.#watcher.onNetworkRequest?.(request, { signal })) ?? NOT_ALLOWED;
      if (typeof answer === "object") return answer;
      return answer === "allow" ? { type: answer } : { ...NOT_ALLOWED, type: answer };
    } catch {
      return NOT_ALLOWED;
    }
  }

  receive(decision: NetworkDecision): void {
    this.#watcher.onNetworkDecision?.(decision);
  }
}
