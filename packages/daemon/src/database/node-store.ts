import type { NodeRow } from "./tables.ts";

export interface NewNode {
  /** The same for every boot of this daemon, and unique among the daemons of a store. */
  readonly name: string;
  /** Where other nodes reach this one, if they can. */
  readonly url?: string;
  readonly labels?: readonly string[];
  /** Number of sessions that it owns at most. Default: 200. */
  readonly capacity?: number;
  readonly version: string;
  readonly codexVersion: string;
}

export interface NodeStore {
  /** Starts a boot: a new ID with a lease. */
  register(node: NewNode): Promise<string>;
  /** Extends the lease. Resolves to false if the node was retired: its sessions may have other owners by now. */
  renew(nodeId: string, changes?: { readonly state: "up" | "draining" }): Promise<boolean>;
  /** Ends the lease. Its sessions can be claimed at once. */
  retire(nodeId: string): Promise<void>;
  list(): Promise<readonly (NodeRow & { readonly isAlive: boolean })[]>;
}
