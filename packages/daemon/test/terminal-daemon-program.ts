// Runs a daemon without Codex in a separate process, for tests that kill it. Prints its URL, token and folder as JSON.
import { openDatabase } from "../src/database.ts";
import { startTestDaemon } from "./test-daemon.ts";

const api = await startTestDaemon(await openDatabase(process.argv[2] ?? ""));
const url = await api.daemon.listen();
process.stdout.write(
  `${JSON.stringify({ url, token: api.token, root: api.root, state: api.stateFolder })}\n`,
);
