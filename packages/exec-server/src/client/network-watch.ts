import { EXEC_LIMITS } from "../limits.ts";
import { NOT_ALLOWED } from "../network/policy-answer.ts";
import type {
  NetworkAnswer,
  NetworkDecision,
  NetworkProxyParams,
  NetworkRequest,
} from "../wire/network-proxy.ts";

/** What the owner of a process wants to decide and to hear of its network. */
export interface NetworkWatcher {
  /** Decides of one host. The signal fires when the connection is gone: then nobody waits any more. */
  readonly onNetworkRequest?:
    | ((
        request: NetworkRequest,
        context: { readonly signal: AbortSignal },
      ) => NetworkAnswer["type"] | NetworkAnswer | Promise<NetworkAnswer["type"] | NetworkAnswer>)
    | undefined;
  readonly onNetworkDecision?: ((decision: NetworkDecision) => void) | undefined;
}

/** The network of one process, as its client sees it. */
export class NetworkWatch {
  readonly #watcher: NetworkWatcher;

  constructor(watcher: NetworkWatcher) {
    this.#watcher = watcher;
  }

  /** The server asks only if it is told how long an answer may take. */
  params(given: NetworkProxyParams | null | undefined): { networkProxy?: NetworkProxyParams } {
    if (!given || !this.#watcher.onNetworkRequest) return {};
    const policyDecisionTimeoutMs = given.policyDecisionTimeoutMs ?? EXEC_LIMITS.networkRequestMs;
    return { networkProxy: { ...given, policyDecisionTimeoutMs } };
  }

  /** Without a handler, or with one that throws, it is a denial. */
  async decide(request: NetworkRequest, signal: AbortSignal): Promise<NetworkAnswer> {
    try {
      const answer = (await this.#watcher.onNetworkRequest?.(request, { signal })) ?? NOT_ALLOWED;
      if (typeof answer === "object") return answer;
      return answer === "allow" ? { type: answer } : { ...NOT_ALLOWED, type: answer };
    } catch {
      return NOT_ALLOWED;
    }
  }

  hear(decision: NetworkDecision): void {
    this.#watcher.onNetworkDecision?.(decision);
  }
}
