import { RpcError, toError } from "./errors.ts";

/** A request ID, echoed verbatim: a number (including 0) or a string. */
export type RequestId = number | string;

export interface WireError {
  code: number;
  message: string;
  data?: unknown;
}

/** A request from the other side. Additional members stay on the object. */
export interface RequestMessage {
  id: RequestId;
  method: string;
  params?: unknown;
}

/** A notification from the other side. Additional members, such as `emittedAtMs`, stay on the object. */
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

/** Number of characters that the error quotes from a malformed message. */
const QUOTED_CHARACTERS = 200;

/**
 * Parses a message. Throws an `RpcError` with code `malformed` that quotes its start. A `jsonrpc` member is ignored.
 */
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
    throw malformed("has an ID that is neither a string nor a safe integer", text);
  }
  if (hasId && isWireError(error)) return { kind: "response", message: { ...value, id, error } };
  // Some peers send `"error": null` next to a result.
  if (hasId && "result" in value && (error === undefined || error === null)) {
    return { kind: "response", message: { id, result: value.result } };
  }
  throw malformed("is not a request, notification or response", text);
}

/** A number beyond 2^53 loses digits when parsed, so it could not be echoed. */
function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || (typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER);
}

function isWireError(value: unknown): value is WireError {
  if (typeof value !== "object" || value === null) return false;
  const { code, message } = value as { code?: unknown; message?: unknown };
  return typeof code === "number" && typeof message === "string";
}

/** Serialises a call without its ID and opening brace: `"method":…,"params":…}`. */
export function callBody(method: string, params: unknown): string {
  const name = `"method":${JSON.stringify(method)}`;
  return params === undefined
    ? `${name}}`
    : `${name},"params":${serializeValue(params, `The params of ${method}`)}}`;
}

/**
 * Params or a result that is already JSON text and is sent verbatim. A caller that embeds megabytes of base64 avoids the scan for
 * characters to escape.
 */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Serialises a value. Throws an `RpcError` with code `unserializable` if JSON can't represent it (a bigint, a cycle,
 * a function).
 */
export function serializeValue(value: unknown, what: string): string {
  if (value instanceof RawJson) return value.text;
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined) return replaceLoneSurrogates(text);
  // A value that JSON omits (a function, a symbol) would silently change the message.
  const why = cause === undefined ? `JSON can't represent a ${typeof value}` : toError(cause).message;
  throw new RpcError("unserializable", `${what} can't be serialised as JSON: ${why}`, { cause });
}

/**
 * Replaces lone surrogates with U+FFFD. JSON can escape them, but they are not valid Unicode: Codex drops a message that
 * contains one, and its sender would wait forever. `JSON.stringify` never escapes a complete pair.
 */
export function replaceLoneSurrogates(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replaceAll(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (escape) =>
    escape.startsWith("\\ud") ? "\ufffd" : escape,
  );
}

function malformed(problem: string, text: string, cause?: unknown): RpcError {
  const quoted = text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
  return new RpcError("malformed", `Received a message that ${problem}: ${quoted}`, { cause });
}
