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

/** Renewals per lease: some may fail before the node counts as dead. */
const RENEWALS_PER_LEASE = 4;
/** Expired rows are removed once per so many renewals. */
const RENEWALS_PER_CLEANUP = 20;

/**
 * A check looks at every socket, and every executor that connects is a reason for one. After a restart, thousands connect
 * within seconds.
 */
const REGISTRATION_DELAY_MS = 250;

/**
 * Keeps a node and its sockets in step with the store: renews the lease, and closes sockets whose token has ended, whose
 * registration has another socket, or whose other node has died.
 */
export class LiveChecks implements AsyncDisposable {
  readonly #options: LiveChecksOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #subscriptions: readonly Disposable[];
  #renewals = 0;
  /** When renewals began to succeed. Undefined while they fail. */
  #renewedSince: number | undefined = performance.now();
  #running: Promise<void> | undefined;
  #isDue = false;
  #soon: NodeJS.Timeout | undefined;

  constructor(options: LiveChecksOptions) {
    this.#options = options;
    const { notifier } = options.store.store;
    this.#timer = setInterval(() => void this.#renew(), options.leaseMs / RENEWALS_PER_LEASE);
    // Polls of the notifier replace lost hints; the timer does that here.
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

  /** While the store can't be reached, no node can renew its lease. Afterwards, each needs some time to do so. */
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

  /** One check at a time. A hint during a check causes one more. */
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
        // The renewal reports that the store can't be reached. Streams go on without it.
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
