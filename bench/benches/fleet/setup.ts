import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PostgresServer } from "@codexkit/store/testing";
import { sql } from "kysely";
import { openDatabase, type Database } from "../../../packages/daemon/src/database.ts";
import { startModel, type Model } from "../turns/start-model.ts";
import { parentOf } from "./cpu-time.ts";
import { fillSessions } from "./fill-sessions.ts";
import { openFleet, type Fleet, type FleetOptions } from "./fleet.ts";

export interface Context extends AsyncDisposable {
  readonly model: Model;
  readonly server: () => Promise<PostgresServer>;
  /** The process of the server, whose children serve its connections. */
  readonly serverPid: () => Promise<number>;
  /** Opens nodes on an empty database. */
  readonly fleet: (
    nodes: number,
    more?: Pick<FleetOptions, "limits">,
  ) => Promise<Fleet & { readonly location: string }>;
  /** Two nodes, for the rows that don't need an empty store. */
  readonly pair: () => Promise<Fleet>;
  /** Four nodes, for the same rows. */
  readonly four: () => Promise<Fleet>;
  /** Opens a store with this number of past sessions. */
  readonly filled: (kind: "sqlite" | "postgres", sessions: number) => Promise<Database>;
}

const SETTINGS = { max_connections: "200", shared_buffers: "256MB", max_wal_size: "4GB" };

export async function setUp(signal: AbortSignal): Promise<Context> {
  await using stack = new AsyncDisposableStack();
  const model = stack.use(await startModel(signal));
  const folder = await mkdtemp(join(tmpdir(), "bench-fleet-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const opened = stack.move();
  const server = createOnce(async () =>
    opened.use(await PostgresServer.start({ durable: true, settings: SETTINGS })),
  );
  const fleet: Context["fleet"] = async (nodes, more) => {
    const location = await (await server()).createDatabase();
    return Object.assign(await openFleet({ model, nodes, store: location, ...more }), { location });
  };
  const stores = new Map<string, Promise<Database>>();
  return {
    model,
    server,
    serverPid: createOnce(async () => findPostmaster(await server())),
    fleet,
    pair: createOnce(async () => opened.use(await fleet(2))),
    four: createOnce(async () => opened.use(await fleet(4))),
    filled: (kind, sessions) => {
      const name = `${kind}-${sessions}`;
      let store = stores.get(name);
      if (!store) {
        store = (async () => {
          const location = kind === "sqlite" ? join(folder, name) : await (await server()).createDatabase();
          const database = opened.use(await openDatabase(location, { limits: { statementMs: 300_000 } }));
          await fillSessions(database, sessions);
          return database;
        })();
        stores.set(name, store);
      }
      return store;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The parent of the process that serves a connection. */
async function findPostmaster(server: PostgresServer): Promise<number> {
  await using database = await openDatabase(await server.createDatabase());
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.store.db);
  return parentOf(rows[0]?.pid ?? 0);
}

function createOnce<Value>(create: () => Value): () => Value {
  let created: { readonly value: Value } | undefined;
  return () => (created ??= { value: create() }).value;
}
