import { RpcError, toError } from "./errors.ts";

/** An id as it came: a number (0 included) or a string, echoed verbatim. */
export type RequestId = number | string;

export interface WireError {
  code: number;
  message: string;
  data?: unknown;
}

/** A request from the other side. Members beside these stay on the object. */
export interface RequestMessage {
  id: RequestId;
  method: string;
  params?: unknown;
}

/** A notification from the other side. Members beside these, such as `emittedAtMs`, stay on the object. */
export interface NotificationMessage {
  method: string;
  params?: unknown;
}

export interface ResponseMessage {
  id: RequestId;
  result?: unknown;
  error?: WireError;
}

export type Message =
  | { kind: "request"; message: RequestMessage }
  | { kind: "notification"; message: NotificationMessage }
  | { kind: "response"; message: ResponseMessage };

/** How much of a bad message an error quotes. */
const QUOTED_CHARACTERS = 200;

/** Reads one message; throws an RpcError `malformed` that quotes its start. A `jsonrpc` member is ignored. */
export function parseMessage(text: string): Message {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed("is not JSON", text, error);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformed("is not an object", text);
  }
  const { id, method, error } = value as { id?: unknown; method?: unknown; error?: unknown };
  const hasId = isRequestId(id);
  if (typeof method === "string") {
    if (hasId) return { kind: "request", message: value as RequestMessage };
    if (id === undefined) return { kind: "notification", message: value as NotificationMessage };
    throw malformed("has an id that is neither a string nor a number that can be echoed", text);
  }
  if (hasId && isWireError(error)) return { kind: "response", message: { ...value, id, error } };
  // `"error": null` beside a result is how some peers say that there is none.
  if (hasId && "result" in value && (error === undefined || error === null)) {
    return { kind: "response", message: { id, result: value.result } };
  }
  throw malformed("is no request, notification or response", text);
}

/** A number past 2^53 has lost digits when it is read: echoed, it would be another id. */
function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || (typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER);
}

function isWireError(value: unknown): value is WireError {
  if (typeof value !== "object" || value === null) return false;
  const { code, message } = value as { code?: unknown; message?: unknown };
  return typeof code === "number" && typeof message === "string";
}

/** Writes a request behind its id, or a notification behind its brace: `"method":…,"params":…}`. */
export function callBody(method: string, params: unknown): string {
  const name = `"method":${JSON.stringify(method)}`;
  return params === undefined
    ? `${name}}`
    : `${name},"params":${serializeValue(params, `The params of ${method}`)}}`;
}

/**
 * Params or a result that is JSON text already, and is sent as it is. For a caller who has written megabytes of base64 into
 * it and knows that no character needs escaping: JSON.stringify would look at each.
 */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Writes a value; throws an RpcError `unserializable` for what JSON can't hold (a bigint, a cycle, a function). */
export function serializeValue(value: unknown, what: string): string {
  if (value instanceof RawJson) return value.text;
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined) return text;
  // A value that JSON leaves out (a function, a symbol) would make another message of the one that was meant.
  const why = cause === undefined ? `JSON has no form for this ${typeof value}` : toError(cause).message;
  throw new RpcError("unserializable", `${what} can't be written as JSON: ${why}`, { cause });
}

function malformed(problem: string, text: string, cause?: unknown): RpcError {
  const quoted = text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
  return new RpcError("malformed", `A message came that ${problem}: ${quoted}`, { cause });
}
