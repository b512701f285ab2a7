import type { Places } from "../files/places.ts";
import type { Finding } from "../finding.ts";
import type { Invocation } from "../shell/invocation.ts";

/** Looks at one command and says what is wrong with it, if anything is. */
export type Check = (invocation: Invocation, places: Places) => Finding | undefined;

export type CheckTable = Readonly<Record<string, Check>>;

/** The same check for several names. */
export function forNames(names: string, check: Check): CheckTable {
  return Object.fromEntries(names.split(" ").map((name) => [name, check]));
}
