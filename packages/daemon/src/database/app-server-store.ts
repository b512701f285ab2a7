import type { AppServerRow } from "./tables.ts";

/** App-servers that outlive their daemon, so that the next boot on the same node attaches to them. */
export interface AppServerStore {
  put(server: Omit<AppServerRow, "started_at">): Promise<void>;
  list(nodeName: string): Promise<readonly AppServerRow[]>;
  remove(id: string): Promise<void>;
}
