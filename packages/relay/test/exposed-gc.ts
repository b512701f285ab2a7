import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The garbage collector, without making it visible to the code under test. */
export function exposedGc(): NodeJS.GCFunction {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as NodeJS.GCFunction;
  setFlagsFromString("--no-expose-gc");
  return gc;
}
