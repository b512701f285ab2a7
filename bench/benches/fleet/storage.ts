import { sql } from "kysely";
import { openDatabase } from "../../../packages/daemon/src/database.ts";
import type { Fleet } from "./fleet.ts";
import { runSession } from "./turns.ts";

const SESSIONS = 5;
const TURNS = 10;

export type StorageCosts = {
  readonly WAL: number;
  readonly rollout: number;
  readonly "rollout compressed": number;
};

/** Kilobytes per turn that Postgres writes, and that it stores of Codex's files before and after they are compressed. */
export async function measureStorage(fleet: Fleet, location: string): Promise<StorageCosts> {
  await using database = await openDatabase(location, { limits: { compactAfterMs: -3_600_000 } });
  const read = async (query: string): Promise<number> => {
    const { rows } = await sql
      .raw<{ bytes: number }>(`select (${query})::bigint as bytes`)
      .execute(database.store.db);
    return rows[0]?.bytes ?? 0;
  };
  const written = "select pg_current_wal_lsn() - '0/0'::pg_lsn";
  const kept = `select coalesce((select sum(octet_length(data)) from rollout_chunk), 0) + coalesce((select sum(octet_length(image)) from rollout), 0)`;
  const before = { written: await read(written), kept: await read(kept) };
  await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) => {
      const node = fleet.nodes[index % fleet.nodes.length];
      if (!node) throw new Error("There is no node.");
      return runSession(node, fleet.workspace, TURNS);
    }),
  );
  const perTurn = (bytes: number): number => bytes / 1_024 / (SESSIONS * TURNS);
  const chunks = perTurn((await read(kept)) - before.kept);
  const wal = perTurn((await read(written)) - before.written);
  while ((await database.rollouts.compactIdle()) > 0);
  return { WAL: wal, rollout: chunks, "rollout compressed": perTurn((await read(kept)) - before.kept) };
}
