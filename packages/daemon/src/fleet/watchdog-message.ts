import type { ProcessIdentity } from "./signal-process.ts";
import type { WatchdogLimits } from "./watchdog.ts";

/** A message from a daemon to its watchdog, as one line of JSON. The watchdog answers each line with an empty line. */
export type WatchdogMessage =
  /** Always the first message. */
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
