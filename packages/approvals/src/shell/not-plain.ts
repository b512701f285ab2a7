import { retainShape } from "../retain-shape.ts";

/**
 * Thrown inside this folder where a script is not understood; caught by `readScript`. Never leaves the package, and is no
 * `Error`: most scripts of a busy agent may end here, and a stack trace costs more than the reading.
 */
export class NotPlain {
  readonly what: string;

  constructor(what: string) {
    this.what = what;
  }
}

/** Ends the reading of a script: `what` is a noun phrase for a person. */
export function notPlain(what: string): never {
  // oxlint-disable-next-line typescript/only-throw-error -- see above
  throw new NotPlain(what);
}

retainShape(new NotPlain(""));
