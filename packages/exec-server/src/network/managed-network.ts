import { EXEC_LIMITS } from "../limits.ts";
import type { NetworkDecision } from "../wire/network-proxy.ts";
import type { StartParams } from "../wire/process-params.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import { type ClientQuestions, readPolicyAnswer } from "./client-questions.ts";
import { type Ask, Gatekeeper } from "./gatekeeper.ts";
import { HostPolicy } from "./host-policy.ts";
import { NetworkProxy } from "./network-proxy.ts";
import type { Target, Verdict } from "./verdict.ts";

/** The client of a process, as far as its network goes. */
export interface NetworkClient {
  readonly questions: ClientQuestions;
  /** Tells it something that it can do without. */
  notifyIfRoom(method: string, params: object): void;
}

type Launch = NonNullable<StartParams["networkProxy"]>;

/** The proxies of one server's processes. */
export class ManagedNetwork implements Disposable {
  readonly #open = new Set<NetworkProxy>();
  #over = false;
  /** Where the server itself listens. No process reaches that through its proxy. */
  ownPort: number | undefined;

  /** The proxy that a process is to be started with, or undefined; refuses what could not be held to. */
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
      throw refused("a network proxy needs a sandbox: without one the process would have its own way out");
    const proxy: NetworkProxy = new NetworkProxy(networkProxy.proxy, gatekeeper, {
      mayOpen: () => {
        if (!this.#over) this.#open.add(proxy);
        return !this.#over;
      },
      onEnd: () => {
        ending.abort();
        this.#open.delete(proxy);
      },
    });
    return proxy;
  }

  [Symbol.dispose](): void {
    this.#over = true;
    for (const proxy of this.#open) proxy[Symbol.dispose]();
  }
}

/** What is not done here is never passed over in silence: a command without its proxy would have the open network. */
function refuseUnmanaged({ networkProxy, managedNetwork, enforceManagedNetwork }: StartParams): void {
  if (managedNetwork !== undefined && managedNetwork !== null)
    throw refused("this exec-server manages no network but that of its own proxies (networkProxy)");
  if (enforceManagedNetwork === true && !networkProxy)
    throw refused("enforceManagedNetwork needs a networkProxy");
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
