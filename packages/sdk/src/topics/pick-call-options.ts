import type { CallOptions } from "@codexkit/rpc";
import { rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import type { ListOptions, PageOptions } from "./paginate.ts";

const KNOWN = { signal: true, timeoutMs: true, cursor: true, limit: true, pageSize: true } as const;

/**
 * Returns the options of the call itself, without those sent to the server. Rejects any other option, which is probably
 * misspelt.
 */
export function pickCallOptions(options: CallOptions & PageOptions & ListOptions): CallOptions {
  rejectUnknownOptions("This call", options, KNOWN);
  const { signal, timeoutMs } = options;
  return { ...(signal === undefined ? {} : { signal }), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}
