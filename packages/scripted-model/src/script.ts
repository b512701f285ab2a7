import type { Reply } from "./part.ts";
import type { ScriptRequest } from "./script-request.ts";

/** A function of the request; nothing returned means that it has no reply for it. */
export type ScriptFunction = (request: ScriptRequest) => Reply | undefined | Promise<Reply | undefined>;

/**
 * What the model does: a list of replies, one for each request in the order they come, or a function of the
 * request. With several threads on one model the order is theirs to race for: use a function.
 */
export type Script = readonly Reply[] | ScriptFunction;

/** Turns a script into the next reply for a request; a list remembers its place. */
export function follow(script: Script): ScriptFunction {
  if (typeof script === "function") return script;
  let next = 0;
  return () => script[next++];
}
