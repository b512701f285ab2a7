import type { JSONObject } from "@ai-sdk/provider";

/** Placeholder until written: passes everything on. */
export function withoutAbsent(_schema: JSONObject): (delta: string) => string {
  return (delta) => delta;
}
