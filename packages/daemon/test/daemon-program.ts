// Runs a daemon in a separate process, for tests that kill it. Reads its settings from the first argument, and prints its URL.
import { z } from "zod";
import { createDaemon } from "../src/create-daemon.ts";

const settings = z
  .object({
    port: z.int(),
    stateFolder: z.string(),
    store: z.string().optional(),
    roots: z.array(z.string()),
    userCodexHome: z.string(),
    env: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(process.argv[2] ?? ""));

const { port, store, env, ...options } = settings;
const daemon = await createDaemon({
  ...options,
  ...(store !== undefined && { store }),
  nodeName: "here",
  codex: { inheritEnv: false, env },
  logger: "warn",
  drainMs: 500,
});
process.once("SIGTERM", () => void daemon.close());
process.stdout.write(`${await daemon.listen({ port })}\n`);
