import { z } from "zod";

/** A call of the model, as its rollout file has it. */
export interface ModelCall {
  readonly callId: string;
  readonly type: "function_call" | "custom_tool_call";
  readonly name: string;
  readonly namespace: string | undefined;
  /** JSON of the arguments, or the input of a custom tool. */
  readonly input: string;
  /** Where its line begins. */
  readonly atByte: number;
}

interface RolloutLine {
  readonly atByte: number;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

const parsedLine = z.object({
  type: z.string(),
  payload: z.record(z.string(), z.unknown()).default({}),
});

/** The lines of a rollout file from a byte on. A line that is not complete is left out. */
export function readLines(file: Uint8Array, fromByte = 0): readonly RolloutLine[] {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const lines: RolloutLine[] = [];
  for (let at = fromByte; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at);
    if (end === -1) break;
    const parsed = parsedLine.safeParse(parseJson(bytes.toString("utf8", at, end)));
    if (parsed.success) lines.push({ atByte: at, ...parsed.data });
    at = end + 1;
  }
  return lines;
}

/**
 * Where the file ended while the requests waited. Calls of the same response may have been written after the first request;
 * what a process wrote when it was ended (outputs such as "aborted", the mark of an interrupted turn) is cut off.
 *
 * @param requestBytes Length of the file when the first request was sent.
 */
export function lengthAtRequest(file: Uint8Array, requestBytes: number): number {
  const after = readLines(file, Math.min(requestBytes, file.length));
  return after.find((line) => !isOfResponse(line))?.atByte ?? file.length;
}

/** All calls of the model, oldest first. */
export function findCalls(file: Uint8Array): readonly ModelCall[] {
  return readLines(file).flatMap(({ type, payload, atByte }) => {
    const callId = payload["call_id"];
    if (type !== "response_item" || typeof callId !== "string") return [];
    const call = toCall(payload, callId, atByte);
    return call ? [call] : [];
  });
}

/** The calls of the newest response that have no output, in their order. */
export function findOpenCalls(file: Uint8Array): readonly ModelCall[] {
  const open = new Map<string, ModelCall>();
  for (const { type, payload, atByte } of readLines(file)) {
    if (type !== "response_item") continue;
    const callId = payload["call_id"];
    if (typeof callId !== "string") {
      // Codex answers the calls of an interrupted turn when the next message follows.
      if (payload["type"] === "message" && payload["role"] === "user") open.clear();
      continue;
    }
    // Models repeat their call IDs: a call is answered by the output that follows it.
    open.delete(callId);
    const call = toCall(payload, callId, atByte);
    if (call) open.set(callId, call);
  }
  return [...open.values()];
}

/** Whether a call runs a script, or waits for one. Models that write code have one tool for each. */
export function isScript({ name, namespace }: Pick<ModelCall, "name" | "namespace">): boolean {
  return namespace === "functions" && (name === "exec" || name === "wait");
}

/** Where the response with a call begins: the position after the newest item that is not of the model. */
export function startOfResponse(file: Uint8Array, call: ModelCall): number {
  let start: number | undefined;
  for (const line of readLines(file)) {
    if (line.atByte > call.atByte) break;
    if (!isOfResponse(line)) start = undefined;
    else start ??= line.atByte;
  }
  return start ?? call.atByte;
}

/** Items that have ended after a byte, as the file reports them. */
export function endedItems(file: Uint8Array, fromByte: number): readonly string[] {
  return readLines(file, fromByte).flatMap(({ type, payload }) => {
    const item = payload["item"];
    if (type !== "event_msg" || payload["type"] !== "item_completed" || !isRecord(item)) return [];
    return typeof item["id"] === "string" && !isSpeech(item["type"]) ? [item["id"]] : [];
  });
}

/** Whether the file has an output of the call after it. */
export function hasOutput(file: Uint8Array, call: ModelCall): boolean {
  return readLines(file, call.atByte).some(
    ({ type, payload }) =>
      type === "response_item" && payload["call_id"] === call.callId && isOutput(payload["type"]),
  );
}

/** Whether the model was asked after a byte, or a turn has begun there. */
export function hasContinued(file: Uint8Array, fromByte: number): boolean {
  return readLines(file, fromByte).some(
    ({ type, payload }) => type === "event_msg" && payload["type"] === "task_started",
  );
}

/** Whether a turn has ended by itself after a byte. One that was interrupted has not. */
export function hasCompleted(file: Uint8Array, fromByte: number): boolean {
  return readLines(file, fromByte).some(
    ({ type, payload }) => type === "event_msg" && payload["type"] === "task_complete",
  );
}

/** Whether the model has responded after a byte. */
export function hasResponded(file: Uint8Array, fromByte: number): boolean {
  return readLines(file, fromByte).some(
    ({ type, payload }) =>
      type === "response_item" &&
      !isOutput(payload["type"]) &&
      (payload["type"] !== "message" || payload["role"] === "assistant"),
  );
}

function toCall(payload: RolloutLine["payload"], callId: string, atByte: number): ModelCall | undefined {
  const { type, name, namespace } = payload as { type?: unknown; name?: unknown; namespace?: unknown };
  if (type !== "function_call" && type !== "custom_tool_call") return undefined;
  const input = payload[type === "function_call" ? "arguments" : "input"];
  return {
    callId,
    type,
    name: typeof name === "string" ? name : "",
    namespace: typeof namespace === "string" ? namespace : undefined,
    input: typeof input === "string" ? input : "",
    atByte,
  };
}

/** Lines that Codex writes while it receives a response of the model. */
function isOfResponse({ type, payload }: RolloutLine): boolean {
  if (type === "token_usage_record") return true;
  if (type === "response_item") {
    if (payload["type"] === "message") return payload["role"] === "assistant";
    return !isOutput(payload["type"]);
  }
  const item = payload["item"];
  return (
    type === "event_msg" &&
    payload["type"] === "item_completed" &&
    isRecord(item) &&
    isSpeech(item["type"]) &&
    item["type"] !== "UserMessage"
  );
}

function isSpeech(type: unknown): boolean {
  return type === "AgentMessage" || type === "Reasoning" || type === "UserMessage" || type === "Plan";
}

function isOutput(type: unknown): boolean {
  return typeof type === "string" && type.endsWith("_output");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
