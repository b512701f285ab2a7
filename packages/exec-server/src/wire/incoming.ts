import { objectionToJson } from "./json-tally.ts";
import { liftBase64 } from "./lift-base64.ts";

/** A message from a client. An id is kept as its original JSON, so that it is echoed to the last digit. */
export type Incoming =
  | { readonly kind: "request"; readonly id: string; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "answer"; readonly id: string; readonly result?: unknown; readonly error?: unknown }
  | { readonly kind: "malformed"; readonly problem: string };

const MAX_I64 = 9223372036854775807n;
const MIN_I64 = -9223372036854775808n;

/** Parses a message. Returns `malformed` instead of throwing. */
export function readIncoming(bytes: Buffer): Incoming {
  const lifted = liftBase64(bytes);
  if (lifted) {
    const message = readText(lifted.text);
    if (message.kind === "malformed") return message;
    if (message.kind === "request" && lifted.restore(message.params)) return message;
  }
  return readText(bytes.toString("utf8"));
}

function readText(text: string): Incoming {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return malformed(error instanceof Error ? error.message : "not JSON");
  }
  const objection = objectionToJson(text, value);
  if (objection !== undefined) return malformed(objection);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return malformed("expected a JSON-RPC object");
  }
  return classify(value as Record<string, unknown>, text);
}

function classify(message: Record<string, unknown>, text: string): Incoming {
  const { id, method, params = null } = message;
  if (method === undefined) return answer(message, text);
  if (typeof method !== "string") return malformed("the method is not a string");
  if (!("id" in message)) return { kind: "notification", method, params };
  const idText = idAsJson(id, text);
  if (idText === undefined) return malformed("the id is neither a string nor a 64-bit integer");
  if (!isTrace(message["trace"])) return malformed("the trace is not a W3C trace context");
  return { kind: "request", id: idText, method, params };
}

function answer(message: Record<string, unknown>, text: string): Incoming {
  const id = idAsJson(message["id"], text);
  if (id === undefined) return malformed("missing field `error`, and no id to answer");
  if ("result" in message) return { kind: "answer", id, result: message["result"] };
  const { error } = message;
  const isError = typeof error === "object" && error !== null && "code" in error && "message" in error;
  return isError ? { kind: "answer", id, error } : malformed("missing field `error`");
}

function idAsJson(id: unknown, text: string): string | undefined {
  if (typeof id === "string") return JSON.stringify(id);
  if (typeof id !== "number" || !Number.isInteger(id)) return undefined;
  if (Number.isSafeInteger(id)) return String(id);
  // Beyond 2^53 the parsed number has lost digits, which only the text still has.
  const digits = /"id"\s*:\s*(?<digits>-?\d{16,19})\s*[,}]/.exec(text)?.groups?.["digits"];
  if (digits === undefined || BigInt(digits) > MAX_I64 || BigInt(digits) < MIN_I64) return undefined;
  return digits;
}

function isTrace(trace: unknown): boolean {
  if (trace === undefined || trace === null) return true;
  if (typeof trace !== "object") return false;
  const { traceparent, tracestate } = trace as Record<string, unknown>;
  return [traceparent, tracestate].every(
    (part) => part === undefined || part === null || typeof part === "string",
  );
}

function malformed(problem: string): Incoming {
  return { kind: "malformed", problem };
}
