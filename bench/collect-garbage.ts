import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A full collection, now. */
export function collectGarbage(): void {
  gc();
}

const gc = globalThis.gc ?? exposeGc();

/** What `node --expose-gc` does, without asking everybody who starts a benchmark to pass the flag. */
function exposeGc(): () => void {
  setFlagsFromString("--expose-gc");
  const exposed: unknown = runInNewContext("gc");
  return typeof exposed === "function" ? () => void exposed() : () => {};
}
