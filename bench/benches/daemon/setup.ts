import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AsyncDisposableStack } from "@codexkit/rpc/async";
import { PostgresServer } from "@codexkit/store/testing";
import { openDatabase, type Database } from "../../../packages/daemon/src/database.ts";
import type { Ownership } from "../../../packages/daemon/src/database/ownership.ts";
import { startModel, type Model } from "../turns/start-model.ts";
import { itemEvents } from "./events.ts";
import { CODEX_VERSION, insertSession, registerNode } from "./store-node.ts";

/** Number of sessions that stream at the same time. */
const SESSIONS = 16;
const ITEM_EVENTS = 100;

export interface BenchStore {
  readonly database: Database;
  readonly owners: readonly Ownership[];
  /** A session of 100,000 events, and one of 100. */
  readonly long: string;
  readonly short: string;
}

export interface Context extends AsyncDisposable {
  readonly model: Model;
  /** The stores are filled when a row first uses them, so that a run of other rows does not wait for them. */
  readonly sqlite: () => Promise<BenchStore>;
  readonly postgres: () => Promise<BenchStore>;
  /** A SQLite file that contains only the journal's table. */
  readonly plain: () => DatabaseSync;
}

export async function setUp(signal: AbortSignal): Promise<Context> {
  await using stack = new AsyncDisposableStack();
  const model = stack.use(await startModel(signal));
  const folder = await mkdtemp(join(tmpdir(), "bench-daemon-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const opened = stack.move();
  return {
    model,
    sqlite: createOnce(async () => fill(opened.use(await openDatabase(join(folder, "daemon"))))),
    postgres: createOnce(async () => {
      const server = opened.use(await PostgresServer.start({ durable: true }));
      return fill(opened.use(await openDatabase(await server.createDatabase())));
    }),
    plain: createOnce(() => {
      const plain = new DatabaseSync(join(folder, "plain.sqlite"));
      opened.defer(() => plain.close());
      plain.exec("pragma journal_mode = wal; pragma synchronous = full");
      plain.exec(
        "create table event (session_id text, seq integer, epoch integer, at integer, type text, turn_id text, item_id text, data text, primary key (session_id, seq)) without rowid",
      );
      return plain;
    }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function createOnce<Value>(create: () => Value): () => Value {
  let created: { readonly value: Value } | undefined;
  return () => (created ??= { value: create() }).value;
}

async function fill(database: Database): Promise<BenchStore> {
  const nodeId = await registerNode(database, "bench");
  for (let count = 0; count < SESSIONS + 2; count += 1) {
    await insertSession(database, { by: "bench", key: `${count}` });
  }
  const claim = { nodeId, name: "bench", limit: SESSIONS + 2, labels: [], codexVersion: CODEX_VERSION };
  const [long, short, ...owners] = await database.sessions.claim(claim);
  if (!long || !short) throw new Error("No session was claimed.");
  for (let item = 0; item < 100_000 / ITEM_EVENTS; item += 1) {
    void database.journal.append(long, itemEvents(`item-${item}`, ITEM_EVENTS));
    await database.journal.waitForCapacity();
  }
  // Small items, so that both first pages have the same number of rows.
  for (let item = 0; item < 50; item += 1) {
    await database.journal.append(long, itemEvents(`last-${item}`, 2));
    await database.journal.append(short, itemEvents(`item-${item}`, 2));
  }
  return { database, owners, long: long.sessionId, short: short.sessionId };
}
