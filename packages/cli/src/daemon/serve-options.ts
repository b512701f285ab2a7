import type { ListenAddress } from "../options/parse-values.ts";

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
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
}
