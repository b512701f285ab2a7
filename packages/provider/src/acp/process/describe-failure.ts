import { RequestError } from "@agentclientprotocol/sdk";

/** The longest detail that is put into a message. */
const DETAIL_LENGTH = 1_000;

/** ACP's code for a request that needs a login first. */
const AUTH_REQUIRED = -32000;

export function needsLogin(error: unknown): boolean {
  return error instanceof RequestError && error.code === AUTH_REQUIRED;
}

/** What went wrong, with the detail of the agent: many answer "Internal error" and put the reason into `data`. */
export function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
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
