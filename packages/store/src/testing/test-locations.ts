import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { StoreKind } from "../store.ts";
import { PostgresServer } from "./postgres-server.ts";
import { storesFolder } from "./stores-folder.ts";

/** Every kind of store, for `describe.each`. */
export const STORE_KINDS: readonly StoreKind[] = ["sqlite", "postgres"];

/**
 * Empty stores for tests.
 *
 * @example
 * describe.each(STORE_KINDS)("notes on %s", (kind) => {
 *   let locations: TestLocations;
 *   beforeAll(async () => (locations = await TestLocations.start(kind)));
 *   afterAll(() => locations[Symbol.asyncDispose]());
 *   test("keeps a note", async () => {
 *     await using store = await openStore({ location: await locations.create(), migrations });
 *   });
 * });
 */
export class TestLocations implements AsyncDisposable {
  readonly kind: StoreKind;
  readonly #server: PostgresServer | undefined;
  readonly #folders: string[] = [];

  private constructor(kind: StoreKind, server: PostgresServer | undefined) {
    this.kind = kind;
    this.#server = server;
  }

  static async start(kind: StoreKind): Promise<TestLocations> {
    return new TestLocations(kind, kind === "postgres" ? await PostgresServer.start() : undefined);
  }

  /** Creates a new, empty location for `openStore`. */
  async create(): Promise<string> {
    if (this.#server) return this.#server.createDatabase();
    const folder = await mkdtemp(join(storesFolder(), "store-"));
    this.#folders.push(folder);
    return folder;
  }

  /** The server behind the locations, for fault injection. */
  get postgres(): PostgresServer {
    if (!this.#server) throw new Error("SQLite has no server.");
    return this.#server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }
}
