import { isRecord, tryParse } from "./json.ts";

/** The output of one call. */
export interface CallOutput {
  readonly callId: string;
  /** The output as text, in code mode without Codex's header. */
  readonly text: string;
  /** False if the cell or the nested call failed. Always true for a direct call, whose text contains its error. */
  readonly ok: boolean;
}

/** The format in which `writeCell` labels each result if several calls share a cell. */
export interface LabelledResult {
  readonly call_id: string;
  readonly ok: boolean;
  readonly value: string;
}

/** Reads the outputs of one input item: none, one, or one per call that shared a cell. */
export function readOutputs(item: unknown): readonly CallOutput[] {
  if (!isRecord(item) || typeof item["call_id"] !== "string") return [];
  const { type, call_id: callId, output } = item;
  if (type !== "function_call_output" && type !== "custom_tool_call_output") return [];
  if (typeof output === "string") return [{ callId, text: output, ok: true }];
  const texts = Array.isArray(output) ? output.flatMap(textOf) : [];
  const [head = ""] = texts;
  if (!/^Script (?:completed|failed|running)/.test(head))
    return [{ callId, text: texts.join("\n"), ok: true }];
  const labelled = texts.slice(1).map(labelledResult);
  if (labelled.length > 0 && labelled.every((result) => result !== undefined))
    return labelled.map(({ call_id, ok, value }) => ({ callId: call_id, ok, text: value }));
  const joinedText = texts.slice(1).join("\n");
  return [
    {
      callId,
      ok: !head.startsWith("Script failed"),
      text: head.startsWith("Script running") ? head + joinedText : joinedText,
    },
  ];
}

function textOf(content: unknown): string[] {
  return isRecord(content) && typeof content["text"] === "string" ? [content["text"]] : [];
}

function labelledResult(text: string): LabelledResult | undefined {
  const value = tryParse(text);
  if (!isRecord(value)) return undefined;
  const { call_id, ok, value: result } = value;
  if (typeof call_id !== "string" || typeof ok !== "boolean" || typeof result !== "string") return undefined;
  return { call_id, ok, value: result };
}
