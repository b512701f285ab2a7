import { fork } from "node:child_process";
import { once } from "node:events";
import type { PostgresServer } from "@codexkit/store/testing";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../../packages/daemon/src/database.ts";
import { cpuTime } from "./cpu-time.ts";
import { quantile } from "./quantile.ts";

const EVENTS = 64_000;
/** Total events per second of all processes. */
const PACE = 20_000;

export type AppendCosts = {
  readonly throughput: number;
  readonly "stored p99": number;
  readonly "cpu of Postgres": number;
  readonly WAL: number;
};

/**
 * Measures processes that append to one Postgres: the duration of an append at a steady rate, then the total events per second, with
 * the CPU time of Postgres in milliseconds and the kilobytes of WAL that 1,000 events cost.
 *
 * @param postgres Process ID of the server.
 */
export async function appendFromAll(
  server: PostgresServer,
  postgres: number,
  nodes: number,
): Promise<AppendCosts> {
  const location = await server.createDatabase();
  await using database = await openDatabase(location);
  await using stack = new AsyncDisposableStack();
  const children = [];
  for (let number = 1; number <= nodes; number += 1) {
    const child = fork(
      new URL("append-program.ts", import.meta.url),
      [location, `node-${number}`, `${EVENTS / nodes}`, `${PACE / nodes}`],
      { execArgv: ["--conditions=codexkit:source"], stdio: ["ignore", "inherit", "inherit", "ipc"] },
    );
    const exited = once(child, "exit");
    stack.defer(async () => {
      if (child.connected) child.send("close");
      await exited;
    });
    const answer = async (): Promise<unknown> => {
      const failed = exited.then(() => Promise.reject(new Error("A node ended.")));
      failed.catch(() => {});
      const [{ result }] = (await Promise.race([once(child, "message"), failed])) as [{ result: unknown }];
      return result;
    };
    await answer();
    children.push({
      ask: (step: "append" | "pace") => {
        const answered = answer();
        child.send(step);
        return answered;
      },
    });
  }
  const times = (await Promise.all(children.map(({ ask }) => ask("pace")))) as number[][];
  const before = { cpu: cpuTime([postgres]), wal: await writtenBytes(database) };
  const begin = performance.now();
  await Promise.all(children.map(({ ask }) => ask("append")));
  const throughput = (EVENTS * 1_000) / (performance.now() - begin);
  const perThousand = (amount: number): number => (amount * 1_000) / EVENTS;
  return {
    throughput,
    "stored p99": quantile(times.flat(), 0.99),
    "cpu of Postgres": perThousand(cpuTime([postgres]) - before.cpu),
    WAL: perThousand((await writtenBytes(database)) - before.wal) / 1_024,
  };
}

async function writtenBytes({ store }: Database): Promise<number> {
  const { rows } = await sql<{
    bytes: number;
  }>`select (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint as bytes`.execute(store.db);
  return rows[0]?.bytes ?? 0;
}
