import type { JsonObject } from "./json.ts";
import type {
  Awaitable,
  CutPart,
  EventPart,
  HeadersPart,
  ItemPart,
  PausePart,
  ScriptedUsage,
  UsagePart,
  WaitPart,
} from "./part.ts";

/** Holds the stream until a gate opens, a promise resolves or a signal aborts. Earlier output is sent first. */
export function waitFor(until: Awaitable): WaitPart {
  return { kind: "wait", until };
}

/** Holds the stream for a time, for demos and benchmarks. Tests should use a gate instead. */
export function pause(ms: number): PausePart {
  return { kind: "pause", ms };
}

/** Destroys the connection here, in the middle of the stream. */
export function cut(): CutPart {
  return { kind: "cut" };
}

/** Sets the token counts of the response. Default: `defaultUsage`. */
export function usage(counts: ScriptedUsage): UsagePart {
  return { kind: "usage", usage: counts };
}

/** Adds headers to the HTTP response. Codex reads rate limits from `x-codex-*` headers. Must precede any output. */
export function headers(extra: Readonly<Record<string, string>>): HeadersPart {
  return { kind: "headers", headers: extra };
}

/** Sends an output item unchanged. */
export function item(raw: JsonObject): ItemPart {
  return { kind: "item", item: raw };
}

/** Sends an SSE event unchanged. */
export function event(raw: JsonObject & { readonly type: string }): EventPart {
  return { kind: "event", event: raw };
}
