// Runs a node of a fleet in a separate process.
import { createDaemon, type DaemonOptions } from "@codexkit/daemon";

const { limits, ...options } = JSON.parse(process.argv[2] ?? "{}") as DaemonOptions;
const daemon = await createDaemon({
  ...options,
  auth: "none",
  drainMs: 0,
  logger: "silent",
  limits: { ...limits, http: { requestsPerSecond: 100_000, requestBurst: 100_000 } },
});
process.once("SIGTERM", () => void daemon.close().then(() => process.exit(0)));
process.send?.({ url: await daemon.listen() });
