import { PostgresServer } from "@codexkit/store/testing";
import { chmod, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import type { Database } from "../src/database.ts";

/**
 * A Postgres whose disk can be full. Tests may not mount a small disk. Instead, the file of the table `event` is replaced by
 * `/dev/full`: the kernel reports a full disk as soon as Postgres extends the table.
 */
export class PostgresDisk implements AsyncDisposable {
  readonly server: PostgresServer;
  readonly #folder: string;
  #file: string | undefined;

  private constructor(server: PostgresServer, folder: string) {
    this.server = server;
    this.#folder = folder;
  }

  static async start(): Promise<PostgresDisk> {
    const folder = await mkdtemp(join(tmpdir(), "pg-disk-"));
    // Postgres runs as another user if the tests run as root.
    await chmod(folder, 0o755);
    return new PostgresDisk(await PostgresServer.start({ folder: join(folder, "data") }), folder);
  }

  /** Makes the disk appear full for new events of a database. Stored events can't be read until then. */
  async fill({ store }: Database): Promise<void> {
    const { rows } = await sql<{ path: string }>`select pg_relation_filepath('event') as path`.execute(
      store.db,
    );
    const file = join(this.#folder, "data", rows[0]?.path ?? "");
    await this.#whileStopped(async () => {
      await rename(file, `${file}.kept`);
      await symlink("/dev/full", file);
    });
    this.#file = file;
  }

  async free(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    await this.#whileStopped(() => rename(`${file}.kept`, file));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Applies a change while Postgres is stopped. After a checkpoint, the start replays nothing into the table's file. */
  async #whileStopped(change: () => Promise<void>): Promise<void> {
    await this.server.query("checkpoint");
    await this.server.stop();
    await change();
    await this.server.restart();
  }
}
