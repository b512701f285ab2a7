import type { HttpServer } from "@codexkit/rpc";
import type { LiveChecks } from "./nodes/live-checks.ts";
import type { NodeLinks } from "./nodes/node-links.ts";
import type { Rendezvous } from "./rendezvous/rendezvous.ts";
import type { RegisteredEnvironment } from "./store/registration-store.ts";
import type { RegistryStore } from "./store/registry-store.ts";
import type { NewRegistryToken, RegistryTokenInfo } from "./store/token-store.ts";

/** Tokens of an embedded registry. */
export interface RegistryTokens {
  /** Creates a token. The token itself is returned only here. */
  create(token: NewRegistryToken): Promise<{ readonly token: string; readonly info: RegistryTokenInfo }>;
  list(): Promise<readonly RegistryTokenInfo[]>;
  /** Revokes a token and closes its sockets. Resolves to false if the token does not exist or was already revoked. */
  revoke(id: string): Promise<boolean>;
}

interface RegistryParts {
  readonly store: RegistryStore;
  readonly server: HttpServer;
  readonly rendezvous: Rendezvous;
  readonly links: NodeLinks;
  readonly checks: LiveChecks;
  readonly nodeId: string;
  readonly publicUrl: string;
  /** Resolves when the end of every closed socket is recorded. */
  readonly settled: () => Promise<void>;
  readonly onClosing: () => void;
  readonly onClosed: () => void;
}

/** Grace period for running requests. */
const GRACE_MS = 1_000;

/** A running registry with its rendezvous. Disposing it disconnects its executors, which connect to another node. */
export class Registry implements AsyncDisposable {
  readonly #parts: RegistryParts;
  #closed: Promise<void> | undefined;

  constructor(parts: RegistryParts) {
    this.#parts = parts;
  }

  /** The base URL for executors and harnesses. */
  get url(): string {
    return this.#parts.publicUrl;
  }

  get tokens(): RegistryTokens {
    return this.#parts.store.tokens;
  }

  /** Environments that an executor has registered for. */
  async listEnvironments(): Promise<readonly RegisteredEnvironment[]> {
    return this.#parts.store.registrations.listEnvironments();
  }

  async close(): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    const { store, server, rendezvous, links, checks, nodeId, settled, onClosing, onClosed } = this.#parts;
    onClosing();
    // Before any socket is closed, because harnesses reconnect immediately. Codex's harness retries after a refused connection,
    // but not after one that breaks during a request: then it gives up its processes.
    server.stopListening();
    await checks[Symbol.asyncDispose]();
    // Other nodes no longer forward reconnecting harnesses to this one.
    await store.nodes.retire(nodeId).catch(() => {});
    links.close();
    await rendezvous[Symbol.asyncDispose]();
    await server.close(GRACE_MS);
    await settled();
    await store[Symbol.asyncDispose]();
    onClosed();
  }
}
