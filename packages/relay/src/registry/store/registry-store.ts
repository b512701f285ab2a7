import { openStore, type Store, type StoreLimits } from "@codexkit/store";
import { GrantStore } from "./grant-store.ts";
import { migrations } from "./migrations.ts";
import { NodeStore } from "./node-store.ts";
import { RegistrationStore } from "./registration-store.ts";
import type { RegistryTables } from "./tables.ts";
import { TokenStore } from "./token-store.ts";

export interface OpenRegistryStoreOptions {
  /** A folder for SQLite, or a `postgres://` URL. */
  readonly location: string;
  readonly leaseMs: number;
  readonly limits?: Partial<StoreLimits> | undefined;
  readonly onWarning: (error: Error) => void;
}

/** Everything that a registry stores: tokens, registrations, grants and nodes, but never frames. */
export interface RegistryStore extends AsyncDisposable {
  readonly store: Store<RegistryTables>;
  readonly tokens: TokenStore;
  readonly registrations: RegistrationStore;
  readonly grants: GrantStore;
  readonly nodes: NodeStore;
}

export async function openRegistryStore({
  location,
  leaseMs,
  limits,
  onWarning,
}: OpenRegistryStoreOptions): Promise<RegistryStore> {
  const store = await openStore<RegistryTables>({
    location,
    name: "registry",
    migrations,
    onWarning,
    // A write to the disk blocks all streams of the process. Registrations and grants need not survive a power failure.
    // Tokens must, and are written immediately.
    synchronous: "normal",
    ...(limits && { limits }),
  });
  return {
    store,
    tokens: new TokenStore(store),
    registrations: new RegistrationStore(store),
    grants: new GrantStore(store),
    nodes: new NodeStore(store, leaseMs),
    [Symbol.asyncDispose]: () => store.close(),
  };
}
