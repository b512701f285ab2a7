import type { Reply } from "./part.ts";
import type { ScriptRequest } from "./script-request.ts";

/** Returns the reply to a request. Undefined means that the script has none. */
export type ScriptFunction = (request: ScriptRequest) => Reply | undefined | Promise<Reply | undefined>;

/**
 * The model's behaviour: a list of replies, one per request in order of arrival, or a function of the request. Use a function
 * for several threads on one model, because the order of their requests is not deterministic.
 */
export type Script = readonly Reply[] | ScriptFunction;

/** Converts a script to a function. A list remembers its position. */
export function toScriptFunction(script: Script): ScriptFunction {
  if (typeof script === "function") return script;
  let next = 0;
  return () => script[next++];
}
