// Runs a daemon of a fleet in a separate process. Reads its port and options from the first argument, and prints its URL.
import { createDaemon } from "../../src/create-daemon.ts";
import type { DaemonOptions } from "../../src/daemon-options.ts";

export interface NodeSettings {
  readonly port: number;
  /** Parsed from JSON. `createDaemon` validates them. */
  readonly options: DaemonOptions;
}

// Exits with the test process, even if that is killed.
process.stdin.once("end", () => process.exit(1)).resume();
process.stdin.unref();

const { port, options } = JSON.parse(process.argv[2] ?? "") as NodeSettings;
const daemon = await createDaemon(options);
process.once("SIGTERM", () => void daemon.close());
process.stdout.write(`${await daemon.listen({ port })}\n`);
