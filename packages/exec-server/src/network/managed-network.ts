import { EXEC_LIMITS } from "../limits.ts";
import type { NetworkDecision } from "../wire/network-proxy.ts";
import type { StartParams } from "../wire/process-params.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import { type ClientQuestions, readPolicyAnswer } from "./client-questions.ts";
import { type Ask, Gatekeeper } from "./gatekeeper.ts";
import { HostPolicy } from "./host-policy.ts";
import { NetworkProxy } from "./network-proxy.ts";
import type { Target, Verdict } from "./verdict.ts";

/** The part of a process's client that its network needs. */
export interface NetworkClient {
  readonly questions: ClientQuestions;
  /** Sends a notification that the client can do without. */
  notifyIfRoom(method: string, params: object): void;
}

type Launch = NonNullable<StartParams["networkProxy"]>;

/** The network proxies of one server's processes. */
export class ManagedNetwork implements Disposable {
  readonly #open = new Set<NetworkProxy>();
  #isDisposed = false;
  /** The port on which the server itself listens. Processes can't reach it through their proxies. */
  ownPort: number | undefined;

  /**
   * Creates the proxy with which a process must be started. Undefined if it needs none. Throws for
   * restrictions that can't be enforced.
   */
  proxyFor(params: StartParams, client: NetworkClient): NetworkProxy | undefined {
    const { processId, networkProxy, sandbox } = params;
    refuseUnmanaged(params);
    if (!networkProxy) return undefined;
    if (!networkProxy.proxy.enabled) {
      throw refused(
        "invalid network proxy config: executor-local network proxy launch requires an enabled proxy",
      );
    }
    const ending = new AbortController();
    const gatekeeper = new Gatekeeper({
      policy: new HostPolicy(networkProxy.proxy, () => this.ownPort),
      ask: askClient(processId, networkProxy, client.questions, ending.signal),
      report: (target, verdict) =>
        client.notifyIfRoom("network/policyDecision", decisionOf(processId, target, verdict)),
    });
    if (!sandbox)
      throw refused("networkProxy requires a sandbox. Without one, the process could bypass the proxy.");
    const proxy: NetworkProxy = new NetworkProxy(networkProxy.proxy, gatekeeper, {
      mayOpen: () => {
        if (!this.#isDisposed) this.#open.add(proxy);
        return !this.#isDisposed;
      },
      onEnd: () => {
        ending.abort();
        this.#open.delete(proxy);
      },
    });
    return proxy;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const proxy of this.#open) proxy[Symbol.dispose]();
  }
}

/**
 * Refuses unsupported restrictions instead of ignoring them: without its proxy, a command would have
 * unrestricted network access.
 */
function refuseUnmanaged({ networkProxy, managedNetwork, enforceManagedNetwork }: StartParams): void {
  if (managedNetwork !== undefined && managedNetwork !== null)
    throw refused("This exec-server does not support managedNetwork. Use networkProxy.");
  if (enforceManagedNetwork === true && !networkProxy)
    throw refused("enforceManagedNetwork requires networkProxy.");
}

function askClient(
  processId: string,
  { policyDecisionTimeoutMs: timeoutMs }: Launch,
  questions: ClientQuestions,
  ended: AbortSignal,
): Ask | undefined {
  if (timeoutMs === undefined || timeoutMs === null) return undefined;
  if (timeoutMs === 0) throw refused("network policy decision callback timeout must be nonzero");
  const { policyProcessIdBytes, policyAnswerMarginMs } = EXEC_LIMITS;
  if (processId === "" || Buffer.byteLength(processId) > policyProcessIdBytes) {
    const limit = `at most ${policyProcessIdBytes} bytes`;
    throw refused(`callback-enabled process ID must be non-empty and ${limit}`);
  }
  return async (request, signal) => {
    const answer = await questions.ask(
      "network/policyRequest",
      { processId, request },
      { timeoutMs: timeoutMs + policyAnswerMarginMs, signal: AbortSignal.any([signal, ended]) },
    );
    return readPolicyAnswer(answer);
  };
}

function decisionOf(processId: string, target: Target, verdict: Verdict): NetworkDecision {
  return { processId, timestamp: new Date().toISOString(), ...verdict, ...target };
}

function refused(message: string): Refusal {
  return new Refusal(CODES.invalidParams, message);
}
