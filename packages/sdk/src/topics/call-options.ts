import type { CallOptions } from "@codexkit/rpc";

/** The part of a method's options that belongs to the call itself, without what goes to the server. */
export function callOptions({ signal, timeoutMs }: CallOptions): CallOptions {
  return { ...(signal === undefined ? {} : { signal }), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}
