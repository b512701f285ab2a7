// A daemon without HTTP, in a process of its own, for tests that kill it. Reads its settings from the first argument, and prints
// the type of each event of one session when it is stored.
import { z } from "zod";
import { openDatabase } from "../src/database.ts";
import { createRunner } from "../src/sessions/create-runner.ts";

const settings = z
  .object({
    sessionId: z.string(),
    stateFolder: z.string(),
    store: z.string(),
    userCodexHome: z.string(),
    env: z.record(z.string(), z.string()),
    limits: z.record(z.string(), z.number()),
  })
  .parse(JSON.parse(process.argv[2] ?? ""));

const log = (details: object, message: string): void => {
  const { err } = details as { err?: unknown };
  process.stderr.write(
    `${message}: ${err instanceof Error ? (err.stack ?? err.message) : JSON.stringify(details)}\n`,
  );
};
const database = await openDatabase(settings.store);
const runner = createRunner({
  database,
  stateFolder: settings.stateFolder,
  userCodexHome: settings.userCodexHome,
  codex: { inheritEnv: false, env: settings.env },
  limits: settings.limits,
  log: { info: log, warn: log, error: log },
});
process.once("SIGTERM", () => {
  void runner.drain(500).then(async () => {
    await database.close();
    process.exit(0);
  });
});
await runner.start();
for await (const events of database.journal.follow(settings.sessionId)) {
  for (const { type } of events) process.stdout.write(`${type}\n`);
}
