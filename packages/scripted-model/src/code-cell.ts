import { SCRIPTED_MODEL_LIMITS } from "./limits.ts";

/** A call inside a cell. */
export interface CellCall {
  readonly callId: string;
  readonly expression: string;
}

/**
 * Writes JavaScript that makes these calls in parallel. Codex runs the cells of one response sequentially, so calls that are
 * parallel for a classic model must share a cell.
 */
export function writeCell(calls: readonly CellCall[]): string {
  const pragma = `// @exec: {"yield_time_ms": ${SCRIPTED_MODEL_LIMITS.cellYieldMs}}`;
  const [first] = calls;
  if (first && calls.length === 1) return `${pragma}\ntext(await ${first.expression});\n`;
  const ids = JSON.stringify(calls.map(({ callId }) => callId));
  // Each result has its call's id. Codex drops empty texts, so results can't be matched by position.
  return `${pragma}
const ids = ${ids};
const results = await Promise.allSettled([
${calls.map(({ expression }) => `  ${expression},\n`).join("")}]);
results.forEach(({ status, value, reason }, at) => {
  const ok = status === "fulfilled";
  const result = ok ? value : String(reason?.message ?? reason);
  text(JSON.stringify({ call_id: ids[at], ok, value: typeof result === "string" ? result : JSON.stringify(result ?? null) }));
});
`;
}
