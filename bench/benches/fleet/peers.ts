import { DBOS } from "@dbos-inc/dbos-sdk";
import { PgBoss } from "pg-boss";
import { quantile } from "./quantile.ts";

const ROUND_TRIPS = 60;

/**
 * Median milliseconds from sending a job to pg-boss until its handler has returned, in one process, with notifications instead of
 * polls. The job is marked as completed after that, which is not measured.
 */
export async function jobTime(location: string): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const boss = new PgBoss({ connectionString: location, useListenNotify: true, schedule: false });
  boss.on("error", () => {});
  await boss.start();
  stack.defer(async () => boss.stop({ graceful: false }));
  await boss.createQueue("bench", { notify: true });
  const waiting = new Map<string, () => void>();
  await boss.work<{ readonly name: string }>("bench", async ([job]) => waiting.get(job?.data.name ?? "")?.());
  return await medianOf(async (name) => {
    const handled = Promise.withResolvers<void>();
    waiting.set(name, handled.resolve);
    await boss.send("bench", { name });
    await handled.promise;
  });
}

/** Median milliseconds of a workflow of DBOS with one step that does nothing. */
export async function workflowTime(location: string): Promise<number> {
  await using stack = new AsyncDisposableStack();
  DBOS.setConfig({ name: "bench", systemDatabaseUrl: location, logLevel: "error" });
  const workflow = DBOS.registerWorkflow(
    async (name: string) => DBOS.runStep(() => Promise.resolve(name), { name: "step" }),
    { name: "bench" },
  );
  await DBOS.launch();
  stack.defer(async () => DBOS.shutdown({ deregister: true }));
  return await medianOf(workflow);
}

async function medianOf(roundTrip: (name: string) => Promise<unknown>): Promise<number> {
  // The first one is not measured, because it compiles code and opens connections.
  await roundTrip("first");
  const times: number[] = [];
  for (let count = 0; count < ROUND_TRIPS; count += 1) {
    const begin = performance.now();
    await roundTrip(`${count}`);
    times.push(performance.now() - begin);
  }
  return quantile(times, 0.5);
}
