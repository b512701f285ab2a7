import { median } from "../../statistics.ts";
import { inSession, type SessionContext } from "../turns/in-session.ts";
import type { Contender } from "./contender.ts";
import { warmUp } from "./calls.ts";
import { question } from "./script.ts";

/** A type, not an interface, because a sample must be assignable to a record of measures. */
export type FirstToken = { readonly "first token": number };

/** Time from a `doStream` call to its first text. Returns the median of several sequential calls. */
export function timeToFirstToken(
  contender: Contender,
  calls: number,
  sessionContext: SessionContext,
): Promise<FirstToken> {
  return inSession(contender, sessionContext, async (provider) => {
    await warmUp(provider);
    const times: number[] = [];
    for (let call = 0; call < calls; call += 1) {
      const began = performance.now();
      let first: number | undefined;
      for await (const delta of provider.stream(question("at once", call))) {
        if (delta !== "") first ??= performance.now() - began;
      }
      if (first === undefined) throw new Error(`call ${call} streamed no text`);
      times.push(first);
    }
    return { "first token": median(times) };
  });
}
