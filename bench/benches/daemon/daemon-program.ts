// A daemon in its own process, as users run it, so that its work is not counted as the client's.
import { createDaemon, type DaemonOptions } from "@codexkit/daemon";
import { collectGarbage } from "../../collect-garbage.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as DaemonOptions;
const daemon = await createDaemon({
  ...options,
  auth: "none",
  drainMs: 0,
  logger: "silent",
  capacity: 1_000,
  limits: {
    http: { requestsPerSecond: 100_000, requestBurst: 100_000 },
  },
});
process.on("message", (question: "heap" | "close") => {
  if (question === "heap") {
    collectGarbage();
    process.send?.({ heap: process.memoryUsage().heapUsed });
  } else {
    void daemon.close().then(() => process.exit(0));
  }
});
process.send?.({ url: await daemon.listen() });
