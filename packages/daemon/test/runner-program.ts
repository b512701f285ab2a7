// Runs a daemon without HTTP in a separate process, for tests that kill it. Reads its settings from the first argument, and prints
// the type of each event of one session when it is stored. With `moments`, it prints each new event of these sessions with the ID
// of the session, and `stalled` when a session has reached its moment.
import { z } from "zod";
import { openDatabase } from "../src/database.ts";
import { fleetLimits } from "../src/fleet/limits.ts";
import { createRunner } from "../src/sessions/create-runner.ts";
import { stallDeliveries } from "./delivery-moments.ts";

const settings = z
  .object({
    sessionId: z.string().optional(),
    stateFolder: z.string(),
    store: z.string(),
    userCodexHome: z.string(),
    env: z.record(z.string(), z.string()),
    limits: z.record(z.string(), z.number()),
    nodeName: z.string().optional(),
    fleet: z.record(z.string(), z.number()).optional(),
    stalled: z.enum(["inbox", "appServers"]).optional(),
    moments: z.record(z.string(), z.string()).optional(),
  })
  .parse(JSON.parse(process.argv[2] ?? ""));

const log = (details: object, message: string): void => {
  const { err } = details as { err?: unknown };
  process.stderr.write(
    `${message}: ${err instanceof Error ? (err.stack ?? err.message) : JSON.stringify(details)}\n`,
  );
};
const fleet = fleetLimits(settings.fleet);
const database = await openDatabase(settings.store, { leaseMs: fleet.leaseMs });
// The write never completes: the daemon is killed while it waits.
const stall = (): Promise<never> => {
  process.stdout.write("stalled\n");
  return new Promise(() => {});
};
if (settings.stalled === "inbox") Object.assign(database.inbox, { open: stall });
if (settings.stalled === "appServers") Object.assign(database.appServers, { put: stall });
if (settings.moments) {
  stallDeliveries(database, settings.moments, (sessionId) => process.stdout.write(`stalled ${sessionId}\n`));
}
const followed = Object.keys(settings.moments ?? {});
const last = await Promise.all(followed.map((sessionId) => database.sessions.get(sessionId)));
const runner = createRunner({
  database,
  stateFolder: settings.stateFolder,
  userCodexHome: settings.userCodexHome,
  codex: { inheritEnv: false, env: settings.env },
  limits: settings.limits,
  fleet,
  ...(settings.nodeName !== undefined && { nodeName: settings.nodeName }),
  log: { info: log, warn: log, error: log },
});
process.once("SIGTERM", () => {
  void runner.drain(500).then(async () => {
    await database.close();
    process.exit(0);
  });
});
await runner.start();

async function print(sessionId: string, after: number, name = ""): Promise<void> {
  for await (const events of database.journal.follow(sessionId, { after })) {
    for (const { type } of events) process.stdout.write(`${type}${name}\n`);
  }
}

await Promise.all([
  settings.sessionId === undefined ? undefined : print(settings.sessionId, 0),
  ...last.map((row) => row && print(row.id, row.last_seq, ` ${row.id}`)),
]);
