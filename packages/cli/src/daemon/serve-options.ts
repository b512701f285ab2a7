import type { ListenAddress } from "@codexkit/rpc";

/** Options of `codexkit serve`, as commander parses them. */
export interface ServeOptions {
  readonly store?: string;
  readonly stateFolder?: string;
  readonly listen: ListenAddress;
  readonly tokenFile?: string;
  readonly root?: readonly string[];
  readonly drain: number;
  readonly demo?: boolean;
  readonly replay?: string;
  readonly console: boolean;
  readonly auth: boolean;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly nodeName?: string;
  readonly label?: readonly string[];
  readonly advertise?: string;
  readonly capacity: number;
  readonly sharedRoot?: Readonly<Record<string, string>>;
  readonly onInterrupted: "continue" | "ask" | "stop";
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
}
