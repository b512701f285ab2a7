// A daemon that the test kills. Its first argument has its options as JSON. Its lease ends soon after its death.
import { createDaemon, type DaemonOptions } from "@codexkit/daemon";

const daemon = await createDaemon({
  ...(JSON.parse(process.argv[2] ?? "") as DaemonOptions),
  limits: { fleet: { leaseMs: 2_000, renewMs: 200, renewTimeoutMs: 300, freezeMs: 1_000 } },
});
process.stdout.write(`${await daemon.listen()}\n`);
