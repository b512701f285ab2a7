import type { ProcessIdentity } from "./signal-process.ts";
import type { WatchdogLimits } from "./watchdog.ts";

/** What a daemon writes to its watchdog, one JSON per line. The watchdog answers each line with an empty one. */
export type WatchdogMessage =
  /** Always first. */
  | {
      readonly type: "start";
      readonly nodeId: string;
      /** A file with the ID of the newest boot of the daemon. */
      readonly bootFile: string;
      readonly limits: WatchdogLimits;
      readonly renewedAt: number;
    }
  | { readonly type: "add"; readonly process: ProcessIdentity }
  | { readonly type: "renewed"; readonly sentAt: number }
  | { readonly type: "fenced" }
  /** The daemon has ended its app-servers itself. */
  | { readonly type: "end" };
