import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Runs a full garbage collection. */
export function collectGarbage(): void {
  gc();
}

const gc = globalThis.gc ?? exposeGc();

/** Enables `--expose-gc` at run time, so that the flag is not needed. */
function exposeGc(): () => void {
  setFlagsFromString("--expose-gc");
  const exposed: unknown = runInNewContext("gc");
  return typeof exposed === "function" ? () => void exposed() : () => {};
}
