import type { CallOptions } from "@codexkit/rpc";
import { rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import type { ListOptions, PageOptions } from "./paginate.ts";

const KNOWN = { signal: true, timeoutMs: true, cursor: true, limit: true, pageSize: true } as const;

/**
 * The part of a method's options that belongs to the call itself, without what goes to the server. Rejects what is left
 * besides: a misspelt option.
 */
export function callOptions(options: CallOptions & PageOptions & ListOptions): CallOptions {
  rejectUnknownOptions("This call", options, KNOWN);
  const { signal, timeoutMs } = options;
  return { ...(signal === undefined ? {} : { signal }), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}
