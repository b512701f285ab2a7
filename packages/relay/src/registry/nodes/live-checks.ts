import { REGISTRATIONS_CHANGED } from "../store/registration-store.ts";
import { TOKENS_CHANGED } from "../store/token-store.ts";
import type { RegistryStore } from "../store/registry-store.ts";
import type { Rendezvous } from "../rendezvous/rendezvous.ts";
import type { NodeLinks } from "./node-links.ts";

export interface LiveChecksOptions {
  readonly store: RegistryStore;
  readonly nodeId: string;
  readonly nodeUrl: string;
  readonly rendezvous: Rendezvous;
  readonly links: NodeLinks;
  readonly leaseMs: number;
  readonly onWarning: (error: unknown) => void;
}

/** Renewals per lease duration. Several may fail before the node counts as dead. */
const RENEWALS_PER_LEASE = 4;
/** Number of renewals after which expired rows are removed. */
const RENEWALS_PER_CLEANUP = 20;

/**
 * Delay of the check that a connecting executor causes, so that several executors share one. A check examines every socket, and
 * after a restart thousands of executors connect within seconds.
 */
const REGISTRATION_DELAY_MS = 250;

/**
 * Keeps a node and its sockets in sync with the store: renews the lease, and closes sockets whose token is no longer valid, whose
 * registration has a newer socket, or which are linked to a node that has died.
 */
export class LiveChecks implements AsyncDisposable {
  readonly #options: LiveChecksOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #subscriptions: readonly Disposable[];
  #renewals = 0;
  /** Time of the first renewal since the last failure. Undefined while renewals fail. */
  #renewedSince: number | undefined = performance.now();
  #running: Promise<void> | undefined;
  #isDue = false;
  #soon: NodeJS.Timeout | undefined;

  constructor(options: LiveChecksOptions) {
    this.#options = options;
    const { notifier } = options.store.store;
    this.#timer = setInterval(() => void this.#renew(), options.leaseMs / RENEWALS_PER_LEASE);
    // The notifier need not poll for lost hints, because this timer does.
    this.#subscriptions = [
      notifier.subscribe(TOKENS_CHANGED, (hint) => hint === "notified" && this.#check()),
      notifier.subscribe(REGISTRATIONS_CHANGED, (hint) => hint === "notified" && this.#checkSoon()),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    await this.#running;
  }

  async #renew(): Promise<void> {
    const { store, nodeId, nodeUrl, onWarning } = this.#options;
    this.#check();
    try {
      await store.nodes.renew(nodeId, nodeUrl);
      this.#renewedSince ??= performance.now();
      this.#renewals += 1;
      if (this.#renewals % RENEWALS_PER_CLEANUP !== 0 || !this.#canJudgeLeases) return;
      await store.grants.removeExpired();
      await store.tokens.removeReplaced();
      await store.registrations.removeStale();
    } catch (error) {
      this.#renewedSince = undefined;
      onWarning(error);
    }
  }

  /** While the store can't be reached, no node can renew its lease. Afterwards, each node needs some time to renew it. */
  get #canJudgeLeases(): boolean {
    return (
      this.#renewedSince !== undefined && performance.now() - this.#renewedSince >= this.#options.leaseMs
    );
  }

  #checkSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#check();
    }, REGISTRATION_DELAY_MS);
  }

  /** Runs one check at a time. A hint during a check causes another check. */
  #check(): void {
    this.#isDue = true;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  async #run(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      try {
        await this.#closeEnded();
      } catch {
        // The renewal reports that the store can't be reached. Streams continue without the store.
        return;
      }
    }
  }

  async #closeEnded(): Promise<void> {
    const { store, nodeId, rendezvous, links } = this.#options;
    const executors = [...rendezvous.executors];
    const harnesses = executors.flatMap((executor) => [...executor.harnesses]);
    const open = [...links.all];
    const tokenIds = new Set([...executors, ...harnesses, ...open].map(({ identity }) => identity.tokenId));
    if (tokenIds.size === 0) return;
    const valid = await store.tokens.valid([...tokenIds]);
    const hasEnded = ({ identity }: { identity: { tokenId: string } }) => !valid.has(identity.tokenId);
    for (const { socket } of [...executors, ...harnesses].filter(hasEnded)) {
      rendezvous.counters.refuse("token_ended");
      socket.close(1008, "the token has ended");
    }
    for (const link of open.filter(hasEnded)) {
      rendezvous.counters.refuse("token_ended");
      link.close();
    }
    const attached = executors.filter(({ isAttached }) => isAttached);
    if (attached.length > 0) {
      const current = await store.registrations.current(nodeId);
      for (const { identity, socket } of attached) {
        if (!current.has(identity.connectionId)) socket.terminate();
      }
    }
    if (open.length > 0 && this.#canJudgeLeases) {
      const alive = await store.nodes.alive();
      for (const link of open) if (!alive.has(link.target.nodeId)) link.close();
    }
  }
}
