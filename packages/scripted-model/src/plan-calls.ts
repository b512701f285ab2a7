import type { CellCall } from "./code-cell.ts";
import { writeCell } from "./code-cell.ts";
import type { NextId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import { toolIdentifier } from "./offered-tools.ts";
import type { CallPart, CodePart, PatchPart } from "./part.ts";
import type { ScriptRequest } from "./script-request.ts";

export type AnyCall = CallPart | PatchPart | CodePart;

/** Converts adjacent calls to the output items that this request's model would write. */
export function planCalls(
  calls: readonly AnyCall[],
  request: ScriptRequest,
  nextId: NextId,
): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let cell: CellCall[] = [];
  const closeCell = (): void => {
    const [first] = cell;
    if (!first) return;
    items.push(execItem(cell.length === 1 ? first.callId : nextId("cell"), writeCell(cell)));
    cell = [];
  };
  for (const call of calls) {
    const callId = call.callId ?? nextId("call");
    const expression = call.kind === "code" ? undefined : nestedCall(call, request);
    if (expression !== undefined) {
      cell.push({ callId, expression });
      continue;
    }
    closeCell();
    items.push(directItem(call, callId, request));
  }
  closeCell();
  return items;
}

/** Returns the call as code. Undefined if the model makes it directly. */
function nestedCall(call: CallPart | PatchPart, request: ScriptRequest): string | undefined {
  if (call.via === "direct" || request.kind !== "code") return undefined;
  if (call.kind === "patch") return `tools.apply_patch(${JSON.stringify(call.patch)})`;
  const offered = request.tool(call.tool, call.namespace);
  // A tool that is not listed may be deferred, and deferred tools can only be called from code.
  if (offered !== undefined && offered.type !== "nested") return undefined;
  return `tools.${toolIdentifier(call.tool, call.namespace)}(${JSON.stringify(call.args)})`;
}

function directItem(call: AnyCall, callId: string, request: ScriptRequest): JsonObject {
  if (call.kind === "code") return execItem(callId, call.source);
  if (call.kind === "call") {
    const namespace = call.namespace ?? request.tool(call.tool)?.namespace;
    return functionItem(callId, call.tool, call.args, namespace);
  }
  if (request.tool("apply_patch") !== undefined)
    return { type: "custom_tool_call", call_id: callId, name: "apply_patch", input: call.patch };
  return functionItem(callId, "exec_command", { cmd: patchCommand(call.patch) });
}

function functionItem(callId: string, name: string, args: JsonObject, namespace?: string): JsonObject {
  return { type: "function_call", call_id: callId, name, namespace, arguments: JSON.stringify(args) };
}

function execItem(callId: string, source: string): JsonObject {
  return { type: "custom_tool_call", call_id: callId, namespace: "functions", name: "exec", input: source };
}

function patchCommand(patch: string): string {
  const lines = new Set(patch.split("\n"));
  let mark = "EOF";
  while (lines.has(mark)) mark += "_";
  return `apply_patch <<'${mark}'\n${patch}${patch.endsWith("\n") ? "" : "\n"}${mark}`;
}
