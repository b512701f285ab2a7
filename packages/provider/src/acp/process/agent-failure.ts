import { RequestError } from "@agentclientprotocol/sdk";
import { messageOf, withTimeout } from "@codexkit/rpc/async";

/** Maximum length of the detail in a message. */
const DETAIL_LENGTH = 1_000;

/** ACP's code for a request that needs a login first. */
const AUTH_REQUIRED = -32000;

export function needsLogin(error: unknown): boolean {
  return error instanceof RequestError && error.code === AUTH_REQUIRED;
}

/** Waits for the agent. After the limit, rejects with an error that names `what`. */
export function waitForAgent<Value>(what: string, limitMs: number, work: Promise<Value>): Promise<Value> {
  return withTimeout(work, limitMs, () => new Error(`${what} did not arrive within ${limitMs} ms`));
}

/** Describes an error with the agent's detail: many agents answer "Internal error" and put the reason into `data`. */
export function describeFailure(error: unknown): string {
  const message = messageOf(error);
  const detail = error instanceof RequestError ? detailOf(error.data) : "";
  return detail === "" || message.includes(detail) ? message : `${message}: ${detail}`;
}

function detailOf(data: unknown): string {
  if (data === undefined || data === null) return "";
  if (typeof data === "string") return data.slice(0, DETAIL_LENGTH);
  const { details, message, error } = data as Readonly<Record<string, unknown>>;
  const text = [details, message, error].find((value) => typeof value === "string" && value !== "");
  return (typeof text === "string" ? text : JSON.stringify(data)).slice(0, DETAIL_LENGTH);
}
