import { z } from "zod";

/** A call of the model, as recorded in the rollout file. */
export interface ModelCall {
  readonly callId: string;
  readonly type: "function_call" | "custom_tool_call";
  readonly name: string;
  readonly namespace: string | undefined;
  /** JSON of the arguments, or the input of a custom tool. */
  readonly input: string;
  /** Offset of its line in the file. */
  readonly atByte: number;
}

export interface RolloutLine {
  readonly atByte: number;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

const parsedLine = z.object({
  type: z.string(),
  payload: z.record(z.string(), z.unknown()).default({}),
});

/**
 * Reads the lines of a rollout file from an offset. An incomplete line is left out. Lines are parsed one by one, so that a search
 * that ends early parses no more; keep them in an array to search them several times.
 */
export function* readLines(file: Uint8Array, fromByte = 0): Generator<RolloutLine, void> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  for (let at = fromByte; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at);
    if (end === -1) break;
    const parsed = parsedLine.safeParse(parseJson(bytes.toString("utf8", at, end)));
    if (parsed.success) yield { atByte: at, ...parsed.data };
    at = end + 1;
  }
}

/**
 * Returns the length of the file while the requests waited. It includes calls of the same response that were written after the
 * first request, but not what the process wrote while it was being ended, such as "aborted" outputs and the mark of an interrupted
 * turn.
 *
 * @param requestBytes Length of the file when the first request was sent.
 */
export function lengthAtRequest(file: Uint8Array, requestBytes: number): number {
  const after = readLines(file, Math.min(requestBytes, file.length));
  return after.find((line) => !isOfResponse(line))?.atByte ?? file.length;
}

/** Finds all calls of the model, oldest first. */
export function findCalls(lines: Iterable<RolloutLine>): readonly ModelCall[] {
  return Array.from(lines).flatMap(({ type, payload, atByte }) => {
    const callId = payload["call_id"];
    if (type !== "response_item" || typeof callId !== "string") return [];
    const call = toCall(payload, callId, atByte);
    return call ? [call] : [];
  });
}

/** Finds the calls of the newest response that have no output, in their order. */
export function findOpenCalls(lines: Iterable<RolloutLine>): readonly ModelCall[] {
  const open = new Map<string, ModelCall>();
  for (const { type, payload, atByte } of lines) {
    if (type !== "response_item") continue;
    const callId = payload["call_id"];
    if (typeof callId !== "string") {
      // Codex answers the calls of an interrupted turn when the next message follows.
      if (payload["type"] === "message" && payload["role"] === "user") open.clear();
      continue;
    }
    // Models reuse call IDs, so an output belongs to the latest call before it.
    open.delete(callId);
    const call = toCall(payload, callId, atByte);
    if (call) open.set(callId, call);
  }
  return [...open.values()];
}

/** Whether a call runs a script or waits for one. Models that write code have one tool for each. */
export function isScript({ name, namespace }: Pick<ModelCall, "name" | "namespace">): boolean {
  return namespace === "functions" && (name === "exec" || name === "wait");
}

/** Returns the offset of the response that contains a call: after the newest earlier item that is not the model's. */
export function startOfResponse(lines: Iterable<RolloutLine>, call: ModelCall): number {
  let start: number | undefined;
  for (const line of lines) {
    if (line.atByte > call.atByte) break;
    if (!isOfResponse(line)) start = undefined;
    else start ??= line.atByte;
  }
  return start ?? call.atByte;
}

/** Returns the IDs of items that ended, except messages, reasoning and plans. */
export function endedItems(lines: readonly RolloutLine[]): readonly string[] {
  return lines.flatMap(({ type, payload }) => {
    const item = payload["item"];
    if (type !== "event_msg" || payload["type"] !== "item_completed" || !isRecord(item)) return [];
    return typeof item["id"] === "string" && !isSpeech(item["type"]) ? [item["id"]] : [];
  });
}

/** Whether the lines contain an output of the call. */
export function hasOutput(lines: readonly RolloutLine[], call: ModelCall): boolean {
  return lines.some(
    ({ type, payload, atByte }) =>
      atByte > call.atByte &&
      type === "response_item" &&
      payload["call_id"] === call.callId &&
      isOutput(payload["type"]),
  );
}

/** Whether a turn was started after an offset. */
export function hasContinued(file: Uint8Array, fromByte: number): boolean {
  return readLines(file, fromByte).some(
    ({ type, payload }) => type === "event_msg" && payload["type"] === "task_started",
  );
}

/** Whether a turn completed after an offset. Interrupted turns don't count. */
export function hasCompleted(file: Uint8Array, fromByte: number): boolean {
  return readLines(file, fromByte).some(
    ({ type, payload }) => type === "event_msg" && payload["type"] === "task_complete",
  );
}

/** Whether the model responded after an offset. */
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

/** Whether Codex writes such a line while it receives a response of the model. */
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
