import { createContext, useContext } from "solid-js";
import type { DaemonFeed } from "./types.ts";

export const DaemonContext = createContext<DaemonFeed>();

/** The daemon that serves this page. */
export function useDaemon(): DaemonFeed {
  const daemon = useContext(DaemonContext);
  if (!daemon) throw new Error("useDaemon() needs a DaemonContext.Provider above it.");
  return daemon;
}
